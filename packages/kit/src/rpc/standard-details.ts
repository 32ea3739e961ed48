import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@vidimus/contracts/google/rpc/error_details";
import type { ErrorKind, Violation } from "../errors.ts";

/** The `domain` of our reasons in google.rpc.ErrorInfo. */
export const reasonDomain = "vidimus";

/** An error, fitted into trailers. */
interface FittedError {
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly violations: readonly Violation[];
  readonly metadata: Record<string, string>;
}

type Details = NonNullable<ConstructorParameters<typeof ConnectError>[3]>;

/** Kinds that a repetition alone may end. */
const passing: ReadonlySet<ErrorKind> = new Set(["unavailable", "exhausted"]);

/** As `Retry-After` of the public API has it. */
const retryMs = 1_000;

/**
 * The details of google.rpc beside our own: ErrorInfo with the reason, or the kind where it has none,
 * in capitals; BadRequest with the violations; RetryInfo where waiting helps.
 */
export function standardDetails({ kind, reason, violations, metadata }: FittedError): Details {
  const info = { reason: (reason || kind).toUpperCase(), domain: reasonDomain, metadata };
  const fieldViolations = violations.map(({ pointer, message }) => ({ field: pointer, description: message }));
  return [
    { desc: ErrorInfoSchema, value: info },
    ...(fieldViolations.length > 0 ? [{ desc: BadRequestSchema, value: { fieldViolations } }] : []),
    ...(passing.has(kind) ? [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryMs) } }] : []),
  ];
}
