/**
 * The kinds of expected failure. The RPC code of each stands in `rpc/error-table.ts`, the HTTP status in the gateway.
 */
export const errorKinds = [
  "invalid",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "gone",
  "already_exists",
  "conflict",
  "failed_precondition",
  "exhausted",
  "too_large",
  "unavailable",
] as const;

/** One kind of expected failure. */
export type ErrorKind = (typeof errorKinds)[number];

/** One place in the input that is at fault: a JSON pointer (RFC 6901), what is wrong there, and the line if there are lines. */
export interface Violation {
  readonly pointer: string;
  readonly message: string;
  /** From 1. */
  readonly line?: number;
}

/**
 * An expected failure. Its message is safe to show to the caller; whatever is not a `DomainError` is a bug.
 *
 * A message that quotes input may cut a surrogate pair in two, and gRPC cannot carry the halves: they are replaced.
 */
export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly kind: ErrorKind;
  readonly violations: readonly Violation[];

  constructor(kind: ErrorKind, message: string, options: { violations?: readonly Violation[]; cause?: unknown } = {}) {
    super(message.toWellFormed(), options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.violations = (options.violations ?? []).map(wellFormed);
  }
}

function wellFormed<V extends Violation>(violation: V): V {
  const { pointer, message } = violation;
  if (pointer.isWellFormed() && message.isWellFormed()) return violation;
  return { ...violation, pointer: pointer.toWellFormed(), message: message.toWellFormed() };
}
