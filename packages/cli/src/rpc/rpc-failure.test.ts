import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { toConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { expect, test } from "vitest";
import { CliError } from "../cli-error.ts";
import { isUnavailable, rpcFailure } from "./rpc-failure.ts";

const service = "the phrases service at 127.0.0.1:2";
const violations = [{ pointer: "/limit", message: "is too large" }];

test.each([
  [
    new ConnectError("connect ECONNREFUSED 127.0.0.1:2", Code.Unavailable),
    `${service} cannot be reached: connection refused`,
  ],
  [new ConnectError("deadline", Code.DeadlineExceeded), `${service} did not answer in time`],
  [new ConnectError("stream closed", Code.Internal), `${service} failed: stream closed`],
  [new TypeError("no stub"), `${service} failed: no stub`],
])("%s is described with the service's name", (error, message) => {
  const failure = rpcFailure(error, service);
  expect(failure.message).toContain(message);
  expect(failure.cause).toBe(error);
});

test("a refusal is described in the service's own words, with the pointer and words of its violation", () => {
  const refusal = toConnectError(new DomainError("invalid", "the list cannot be read", { violations }));
  const { message } = rpcFailure(refusal, service);
  expect(message).toContain("the list cannot be read");
  expect(message).toContain("/limit: is too large");
  expect(message).not.toContain(service);
});

test("an error of the command line stays as it is", () => {
  const error = new CliError("say --tenant");
  expect(rpcFailure(error, service)).toBe(error);
});

test("only an error with the code UNAVAILABLE counts as unavailable", () => {
  const codes = Object.values(Code).filter((code) => typeof code === "number");
  const unavailable = codes.filter((code) => isUnavailable(new ConnectError("failed", code)));
  expect(unavailable).toEqual([Code.Unavailable]);
  expect(isUnavailable(new Error("away"))).toBe(false);
});
