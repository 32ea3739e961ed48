/**
 * The kinds of expected failure. `rpc/errors/error-table.ts` maps them to RPC codes, and the
 * gateway's `errors/error-table.ts` maps them to HTTP statuses.
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
  "deadline_exceeded",
] as const;

export type ErrorKind = (typeof errorKinds)[number];

/** One fault in the input: a JSON pointer (RFC 6901) to its place, and what is wrong there. */
export interface Violation {
  readonly pointer: string;
  readonly message: string;
  /** Line of the input, from 1, when the input has lines. */
  readonly line?: number;
  /** A word by which programs distinguish cases of one kind, for example `same_content`. */
  readonly reason?: string;
}

export interface ErrorOptions {
  readonly violations?: readonly Violation[];
  /** The case within the kind, one of the words listed in `errors.proto`. */
  readonly reason?: string | undefined;
  /** Facts of the failure for programs, under the keys listed in `errors.proto`. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * An expected failure. Its message may be shown to the caller. Any other error is a bug and is
 * shown as `internal error`, except failures of MongoDB and RPC (`rpc/errors/error-table.ts`).
 *
 * A message that quotes input may end in half a surrogate pair, which breaks gRPC trailers. Lone
 * halves are replaced by U+FFFD.
 */
export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly kind: ErrorKind;
  readonly violations: readonly Violation[];
  /** "" when the failure is none of the cases that `errors.proto` lists for its kind. */
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message.toWellFormed(), options.cause === undefined ? {} : { cause: options.cause });
    this.kind = kind;
    this.violations = (options.violations ?? []).map(wellFormed);
    this.reason = options.reason ?? "";
    this.metadata = options.metadata ?? {};
  }
}

function wellFormed<V extends Violation>(violation: V): V {
  const { pointer, message } = violation;
  if (pointer.isWellFormed() && message.isWellFormed()) return violation;
  return { ...violation, pointer: pointer.toWellFormed(), message: message.toWellFormed() };
}
