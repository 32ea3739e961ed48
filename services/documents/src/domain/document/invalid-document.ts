import { DomainError, type Violation } from "@vidimus/kit/errors";

/** Most violations that are reported for one document. */
export const violationsMax = 20;

/** The refusal of a document with its violations, of which only the first 20 are reported. */
export function invalidDocument(violations: readonly Violation[]): DomainError {
  const named = violations.slice(0, violationsMax);
  const text = named.map(({ pointer, message }) => `${pointer}: ${message}`).join("; ");
  return new DomainError("invalid", `the document does not hold: ${text}`, { violations: named });
}

/**
 * The first 20 violations, their pointers prefixed with `pointer`, the document's place in a larger
 * value.
 */
export function violationsBelow(pointer: string, violations: readonly Violation[]): Violation[] {
  return violations
    .slice(0, violationsMax)
    .map((violation) => ({ pointer: pointer + violation.pointer, message: violation.message }));
}
