import { DomainError } from "@vidimus/kit/errors";

/**
 * The error for a request with a field that is not accepted.
 *
 * @param pointer names the field, for example `/limit`
 */
export function refused(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
