import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError, errorKinds, type Violation } from "@vidimus/kit/errors";
import { toConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { expect, test } from "vitest";
import { toHttpError } from "./error-table.ts";
import { HttpError, statusOf } from "./http-error.ts";

const expected = {
  invalid: "INVALID_PAYLOAD",
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
} as const;

test.each(errorKinds)(
  "a POST that fails with %s gets one public code, whether the gateway or an RPC failed",
  (kind) => {
    const error = new DomainError(kind, "why");
    for (const fault of [error, toConnectError(error)]) {
      const { code, message } = toHttpError(fault, "POST");
      expect(code).toBe(expected[kind]);
      expect(message).toBe(code === "INTERNAL" ? "internal error" : "why");
    }
  },
);

test("an invalid input is INVALID_QUERY for methods without a body", () => {
  const error = new DomainError("invalid", "why");
  for (const method of ["GET", "HEAD", "DELETE"]) expect(toHttpError(error, method).code).toBe("INVALID_QUERY");
});

test("the violations of an invalid input are the details of its answer", () => {
  const violations: Violation[] = [
    { pointer: "/language", message: "is odd" },
    { pointer: "/text", message: "is not there", reason: "missing" },
  ];
  expect(toHttpError(new DomainError("invalid", "why", { violations }), "PUT").details).toEqual(violations);
});

test.each([
  ["DeadlineExceeded", "TIMEOUT"],
  ["Unavailable", "UNAVAILABLE"],
  ["Internal", "INTERNAL"],
  ["Unimplemented", "INTERNAL"],
  ["InvalidArgument", "INTERNAL"],
] as const)("an RPC error with the code %s that carries no domain error is answered %s", (code, expectedCode) => {
  expect(toHttpError(new ConnectError("secret", Code[code]), "GET").code).toBe(expectedCode);
});

const bug = new TypeError("password=hunter2");

test('an unexpected error is answered "internal error"', () => {
  const { code, message } = toHttpError(bug, "GET");
  expect([code, message]).toEqual(["INTERNAL", "internal error"]);
});

test("an unexpected error is kept as the cause of the error that is answered", () => {
  expect(toHttpError(bug, "GET").cause).toBe(bug);
});

test("a domain error that becomes UNAVAILABLE or RATE_LIMITED gets a Retry-After of one second", () => {
  for (const kind of ["unavailable", "exhausted"] as const) {
    expect(toHttpError(new DomainError(kind, "x"), "GET").headers["retry-after"]).toBe("1");
  }
});

test("there are 15 public codes", () => {
  expect(Object.keys(statusOf)).toHaveLength(15);
});

test("an HttpError is answered as it is", () => {
  const error = new HttpError("CONFLICT", "x");
  expect(toHttpError(error, "POST")).toBe(error);
});
