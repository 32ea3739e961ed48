import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "@vidimus/contracts/google/rpc/error_details";
import type { ErrorKind, Violation } from "../../errors.ts";

/** The `domain` of google.rpc.ErrorInfo for the platform's own reasons. */
const reasonDomain = "vidimus";

/** An error that `fitError` has shortened. */
interface FittedError {
  readonly kind: ErrorKind;
  readonly reason: string;
  readonly violations: readonly Violation[];
  readonly metadata: Record<string, string>;
}

type Details = NonNullable<ConstructorParameters<typeof ConnectError>[3]>;

/** Kinds for which repeating the call may help. */
const passing: ReadonlySet<ErrorKind> = new Set(["unavailable", "exhausted"]);

/** Equals the `Retry-After` that the gateway sends for these kinds. */
const retryMs = 1_000;

/**
 * The google.rpc details of an error: ErrorInfo with the reason in capitals (the kind when there is
 * no reason), BadRequest with the violations, RetryInfo when a repetition may help.
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
