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

test.each(errorKinds)("%s has one code, whether it arises here or comes over the wire", (kind) => {
  const error = new DomainError(kind, "why");
  for (const fault of [error, toConnectError(error)]) {
    const { code, message } = toHttpError(fault, "POST");
    expect(code).toBe(expected[kind]);
    expect(message).toBe(code === "INTERNAL" ? "internal error" : "why");
  }
});

test("an invalid input is INVALID_QUERY for methods without a body", () => {
  const error = new DomainError("invalid", "why", { violations: [{ pointer: "/language", message: "is odd" }] });
  for (const method of ["GET", "HEAD", "DELETE"]) expect(toHttpError(error, method).code).toBe("INVALID_QUERY");
  expect(toHttpError(error, "PUT").details).toEqual([{ pointer: "/language", message: "is odd" }]);
});

test.each([
  [Code.DeadlineExceeded, "TIMEOUT"],
  [Code.Unavailable, "UNAVAILABLE"],
  [Code.Internal, "INTERNAL"],
  [Code.Unimplemented, "INTERNAL"],
  [Code.InvalidArgument, "INTERNAL"],
])("an RPC error %s without our own words is %s", (code, expectedCode) => {
  expect(toHttpError(new ConnectError("secret", code), "GET").code).toBe(expectedCode);
});

test("a bug discloses nothing in the answer, and its cause is logged", () => {
  const bug = new TypeError("password=hunter2");
  const error = toHttpError(bug, "GET");
  expect([error.code, error.message, error.cause]).toEqual(["INTERNAL", "internal error", bug]);
});

test("UNAVAILABLE and RATE_LIMITED always say when to come back", () => {
  for (const kind of ["unavailable", "exhausted"] as const) {
    expect(toHttpError(new DomainError(kind, "x"), "GET").headers["retry-after"]).toBe("1");
  }
});

test("every code has the status of its name in the specification", () => {
  expect(Object.keys(statusOf)).toHaveLength(15);
  expect(new HttpError("CONFLICT", "x").code).toBe("CONFLICT");
});
