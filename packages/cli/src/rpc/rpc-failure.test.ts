import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { toConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { expect, test } from "vitest";
import { CliError } from "../cli-error.ts";
import { isUnavailable, rpcFailure } from "./rpc-failure.ts";

const service = "the phrases service at 127.0.0.1:2";
const violations = [{ pointer: "/limit", message: "is too large" }];

test.each([
  [new ConnectError("connect ECONNREFUSED 127.0.0.1:2", Code.Unavailable), "cannot be reached: connection refused"],
  [new ConnectError("deadline", Code.DeadlineExceeded), `${service} did not answer in time`],
  [new ConnectError("stream closed", Code.Internal), `${service} failed: stream closed`],
  [new TypeError("no stub"), `${service} failed: no stub`],
])("%s is described with the name of the service", (error, message) => {
  const failure = rpcFailure(error, service);
  expect(failure.message).toContain(message);
  expect(failure.cause).toBe(error);
});

test("a refusal is described in the service's own words, with its violations", () => {
  const refusal = toConnectError(new DomainError("invalid", "the list cannot be read", { violations }));
  const { message } = rpcFailure(refusal, service);
  expect(message).toContain("the list cannot be read");
  expect(message).toContain("/limit");
  expect(message).not.toContain(service);
});

test("an error of the command line stays as it is", () => {
  const error = new CliError("say --tenant");
  expect(rpcFailure(error, service)).toBe(error);
});

test("only a call that failed with UNAVAILABLE is one to repeat", () => {
  expect(isUnavailable(new ConnectError("away", Code.Unavailable))).toBe(true);
  expect(isUnavailable(new ConnectError("late", Code.DeadlineExceeded))).toBe(false);
  expect(isUnavailable(new Error("away"))).toBe(false);
});
