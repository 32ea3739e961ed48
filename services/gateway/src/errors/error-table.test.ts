import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError, errorKinds } from "@vidimus/kit/errors";
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

test.each(errorKinds)("the kind %s has one public code, whether the gateway or an RPC failed with it", (kind) => {
  const error = new DomainError(kind, "why");
  for (const fault of [error, toConnectError(error)]) {
    const { code, message } = toHttpError(fault, "POST");
    expect(code).toBe(expected[kind]);
    expect(message).toBe(code === "INTERNAL" ? "internal error" : "why");
  }
});

test("an invalid input is INVALID_QUERY for methods without a body", () => {
  const error = new DomainError("invalid", "why");
  for (const method of ["GET", "HEAD", "DELETE"]) expect(toHttpError(error, method).code).toBe("INVALID_QUERY");
});

test("the violations of an invalid input are the details of its answer", () => {
  const error = new DomainError("invalid", "why", { violations: [{ pointer: "/language", message: "is odd" }] });
  expect(toHttpError(error, "PUT").details).toEqual([{ pointer: "/language", message: "is odd" }]);
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

test("an unexpected error is kept as the cause of the answered one, for the log", () => {
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
