import { Code, ConnectError } from "@connectrpc/connect";
import type { DomainError, ErrorKind } from "@vidimus/kit/errors";
import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/error-table";
import { type ErrorCode, HttpError } from "./http-error.ts";

/** An `invalid` input is the body's fault where there is one, else the URL's. */
const codeOfKind: Readonly<Record<ErrorKind, ErrorCode | "INVALID">> = {
  invalid: "INVALID",
  unauthenticated: "INTERNAL",
  permission_denied: "FORBIDDEN",
  not_found: "NOT_FOUND",
  gone: "GONE",
  already_exists: "CONFLICT",
  conflict: "CONFLICT",
  failed_precondition: "CONFLICT",
  exhausted: "RATE_LIMITED",
  too_large: "PAYLOAD_TOO_LARGE",
  unavailable: "UNAVAILABLE",
};

/** What the framework finds wrong before any of our code runs. */
const codeOfFrameworkError: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_BAD_URL: "INVALID_QUERY",
  FST_ERR_ASYNC_CONSTRAINT: "INVALID_QUERY",
  FST_ERR_MAX_PARAM_LENGTH: "INVALID_QUERY",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_PAYLOAD",
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
};

/** The one way from any failure to an answer. What is not an expected failure becomes INTERNAL and keeps its cause. */
export function toHttpError(error: unknown, method: string): HttpError {
  if (error instanceof HttpError) return error;
  const domain = asDomainError(error) ?? fromConnectError(error);
  if (domain) return fromDomain(domain, method);
  if (error instanceof ConnectError && error.code === Code.DeadlineExceeded) {
    return new HttpError("TIMEOUT", "a service did not answer in time", { cause: error });
  }
  const code = codeOfFrameworkError[frameworkCode(error)];
  if (code) return new HttpError(code, messageOf(error));
  return new HttpError("INTERNAL", "internal error", { cause: error });
}

function fromDomain(error: DomainError, method: string): HttpError {
  const named = codeOfKind[error.kind];
  const reading = method === "GET" || method === "HEAD" || method === "DELETE";
  const code = named === "INVALID" ? (reading ? "INVALID_QUERY" : "INVALID_PAYLOAD") : named;
  if (code === "INTERNAL") return new HttpError(code, "internal error", { cause: error });
  const details = error.violations.map(({ pointer, message }) => ({ pointer, message }));
  const busy = code === "UNAVAILABLE" || code === "RATE_LIMITED";
  return new HttpError(code, error.message, { details, ...(busy ? { headers: { "retry-after": "1" } } : {}) });
}

function frameworkCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
