import { DomainError } from "@vidimus/kit/errors";

/** The refusal of a request, for one place of it. */
export function refused(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
