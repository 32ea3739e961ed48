import { DomainError, type Violation } from "@vidimus/kit/errors";

/** Most violations that are reported of one document. */
export const violationsMax = 20;

/**
 * The refusal of a document in which these places are at fault; of many only the first are named.
 */
export function invalidDocument(violations: readonly Violation[]): DomainError {
  const named = violations.slice(0, violationsMax);
  const text = named.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  return new DomainError("invalid", `the document does not hold: ${text}`, { violations: named });
}

/** The same faults, seen from the whole of which their document is the part at `pointer`. */
export function violationsBelow(pointer: string, violations: readonly Violation[]): Violation[] {
  return violations
    .slice(0, violationsMax)
    .map((violation) => ({ pointer: pointer + violation.pointer, message: violation.message }));
}
