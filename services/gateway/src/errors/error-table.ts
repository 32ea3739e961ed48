import type { DomainError, ErrorKind } from "@vidimus/kit/errors";
import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { type ErrorCode, HttpError, inOneSecond } from "./http-error.ts";

/** `INVALID` becomes INVALID_QUERY for GET, HEAD and DELETE, else INVALID_PAYLOAD. */
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
  deadline_exceeded: "TIMEOUT",
};

/** From Fastify's code for an error that it throws before a handler runs to the public code. */
const codeOfFrameworkError: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_PAYLOAD",
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
};

/** The public error for any error. An unexpected one becomes INTERNAL, with itself as the cause. */
export function toHttpError(error: unknown, method: string): HttpError {
  if (error instanceof HttpError) return error;
  const domain = asDomainError(error) ?? fromConnectError(error);
  if (domain) return fromDomain(domain, method);
  const code = codeOfFrameworkError[frameworkCode(error)];
  if (code) return new HttpError(code, messageOf(error));
  return new HttpError("INTERNAL", "internal error", { cause: error });
}

function fromDomain(error: DomainError, method: string): HttpError {
  const named = codeOfKind[error.kind];
  const reading = method === "GET" || method === "HEAD" || method === "DELETE";
  const code = named === "INVALID" ? (reading ? "INVALID_QUERY" : "INVALID_PAYLOAD") : named;
  if (code === "INTERNAL") return new HttpError(code, "internal error", { cause: error });
  const details = error.violations.map(({ pointer, message, reason }) => ({
    pointer,
    message,
    ...(reason === undefined ? {} : { reason }),
  }));
  const busy = code === "UNAVAILABLE" || code === "RATE_LIMITED";
  return new HttpError(code, error.message, { details, ...(busy ? inOneSecond : {}) });
}

function frameworkCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
