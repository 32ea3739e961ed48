import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { DomainError, errorKinds, type ErrorKind } from "../errors.ts";
import { isMongoUnavailable } from "../mongo-errors.ts";
import { fitError } from "./fit-error.ts";

const codes: Readonly<Record<ErrorKind, Code>> = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  gone: Code.NotFound,
  already_exists: Code.AlreadyExists,
  conflict: Code.Aborted,
  failed_precondition: Code.FailedPrecondition,
  exhausted: Code.ResourceExhausted,
  too_large: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
};

/** What a failure looks like inside a batch: the same facts a failed call carries as its detail, shortened to fit there. */
export function toErrorInfo(error: DomainError): {
  kind: ErrorKind;
  message: string;
  violations: { pointer: string; message: string; line?: number }[];
} {
  return { kind: error.kind, ...fitError(error) };
}

/** Reads an `ErrorInfo` back into the error it was made from. */
export function fromErrorInfo(info: {
  kind: string;
  message: string;
  violations: readonly { pointer: string; message: string; line?: number }[];
}): DomainError {
  const kind = errorKinds.find((known) => known === info.kind);
  if (kind === undefined) throw new TypeError(`unknown error kind "${info.kind}"`);
  return new DomainError(kind, info.message, {
    violations: info.violations.map(({ pointer, message, line }) => ({ pointer, message, ...(line ? { line } : {}) })),
  });
}

/** Names an expected failure, MongoDB's absence included; undefined for a bug. */
export function asDomainError(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error;
  if (isMongoUnavailable(error)) {
    return new DomainError("unavailable", "the database cannot be reached", { cause: error });
  }
  return undefined;
}

/**
 * The one way from a failure to an RPC error. A `DomainError` keeps its message and carries an `ErrorInfo`; an error
 * that already is a `ConnectError` raised here (deadline, limits, unknown method) passes; all else becomes `internal error`.
 */
export function toConnectError(error: unknown): ConnectError {
  const domain = asDomainError(error);
  if (domain) {
    const value = toErrorInfo(domain);
    const detail = { desc: ErrorInfoSchema, value };
    return new ConnectError(value.message, codes[domain.kind], undefined, [detail], domain.cause);
  }
  if (error instanceof ConnectError) return error;
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}

/** The one way back: an RPC error from another service as the expected failure it stands for; undefined for its bugs. */
export function fromConnectError(error: unknown): DomainError | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info) return fromErrorInfo(info);
  if (error.code === Code.Unavailable)
    return new DomainError("unavailable", "a service cannot be reached", { cause: error });
  return undefined;
}
