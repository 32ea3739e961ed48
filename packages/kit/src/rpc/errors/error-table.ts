import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorInfo, ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { DomainError, errorKinds, type ErrorKind, type Violation } from "../../errors.ts";
import { isMongoTimeout, isMongoUnavailable, isSnapshotTooOld } from "../../mongo/mongo-errors.ts";
import { fitError } from "./fit-error.ts";
import { standardDetails } from "./standard-details.ts";
import { internalErrorInfo } from "./item-fault.ts";

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
  too_large: Code.InvalidArgument,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
};

/**
 * The general kind of each RPC code, for an `ErrorInfo` of a newer release whose kind is unknown
 * here. Codes without a row mean bugs.
 */
const kindsOfCodes: ReadonlyMap<number, ErrorKind> = new Map([
  [Code.InvalidArgument, "invalid"],
  [Code.Unauthenticated, "unauthenticated"],
  [Code.PermissionDenied, "permission_denied"],
  [Code.NotFound, "not_found"],
  [Code.AlreadyExists, "already_exists"],
  [Code.Aborted, "conflict"],
  [Code.FailedPrecondition, "failed_precondition"],
  [Code.ResourceExhausted, "exhausted"],
  [Code.Unavailable, "unavailable"],
  [Code.DeadlineExceeded, "deadline_exceeded"],
]);

/** Makes the `ErrorInfo` for the details of a failed call, or for one item of an answer. */
export function toErrorInfo(error: DomainError): {
  kind: ErrorKind;
  message: string;
  violations: Violation[];
  code: Code;
  reason: string;
  metadata: Record<string, string>;
} {
  return { kind: error.kind, ...fitError(error), code: codes[error.kind], reason: error.reason };
}

/**
 * Converts an `ErrorInfo` back to the error that it was made from. A kind of a newer release
 * becomes the general kind of its RPC code. The kind `internal`, and an unknown kind whose code has
 * no row, mean a bug of the sender and become an error that is no `DomainError`.
 */
export function fromErrorInfo(info: ErrorInfo): Error {
  const kind = errorKinds.find((known) => known === info.kind) ?? kindsOfCodes.get(info.code);
  if (kind === undefined) {
    return info.kind === internalErrorInfo.kind
      ? new Error(info.message)
      : new TypeError(`unknown error kind "${info.kind}"`);
  }
  const violations = info.violations.map(({ pointer, message, line, reason }) => ({
    pointer,
    message,
    ...(line ? { line } : {}),
    ...(reason ? { reason } : {}),
  }));
  const { message, reason, metadata } = info;
  return new DomainError(kind, message, { violations, reason, metadata });
}

/**
 * Returns an expected failure as a DomainError. Failures of an unavailable or slow MongoDB, and
 * reads of a moment that mongod no longer keeps, are expected, too. Undefined for any other error.
 */
export function asDomainError(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error;
  if (isMongoTimeout(error)) {
    return new DomainError("deadline_exceeded", "the database did not answer in time", { cause: error });
  }
  if (isSnapshotTooOld(error)) {
    return new DomainError("deadline_exceeded", "the database no longer has the moment that this call reads", {
      cause: error,
    });
  }
  if (isMongoUnavailable(error)) {
    return new DomainError("unavailable", "the database cannot be reached", { cause: error });
  }
  return undefined;
}

/**
 * An expected failure (`asDomainError`) keeps its message and gets an `ErrorInfo` and the details
 * of google.rpc that generic clients read. A `ConnectError`, for example of a passed deadline, a
 * limit or an unknown method, is returned unchanged. Every other error becomes `internal error`.
 */
export function toConnectError(error: unknown): ConnectError {
  const domain = asDomainError(error);
  if (domain) {
    const value = toErrorInfo(domain);
    const details = [{ desc: ErrorInfoSchema, value }, ...standardDetails(value)];
    return new ConnectError(value.message, codes[domain.kind], undefined, details, domain.cause);
  }
  if (error instanceof ConnectError) return error;
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}

/**
 * Converts an RPC error of a call to another service to an expected failure. Without an `ErrorInfo`
 * only UNAVAILABLE and DEADLINE_EXCEEDED are expected. Undefined for any other error.
 */
export function fromConnectError(error: unknown): DomainError | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info) {
    const named = fromErrorInfo({ ...info, code: error.code });
    return named instanceof DomainError ? named : undefined;
  }
  if (error.code === Code.Unavailable)
    return new DomainError("unavailable", "a service cannot be reached", { cause: error });
  if (error.code === Code.DeadlineExceeded)
    return new DomainError("deadline_exceeded", "a service did not answer in time", { cause: error });
  return undefined;
}
