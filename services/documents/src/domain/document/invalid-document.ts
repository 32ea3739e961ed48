import { DomainError, type Violation } from "@vidimus/kit/errors";

/** The refusal of a document in which these places are at fault. */
export function invalidDocument(violations: readonly Violation[]): DomainError {
  const text = violations.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  return new DomainError("invalid", `the document does not hold: ${text}`, { violations });
}
