import { DomainError } from "@vidimus/kit/errors";

/** Refuses a request because of one of its fields. */
export function refused(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
