import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { expect, test, vi } from "vitest";
import { partOf } from "./service-down.ts";

test.each([
  ["is unavailable", new DomainError("unavailable", "the public API does not answer")],
  ["cannot be reached", new ConnectError("refused", Code.Unavailable)],
  ["is too slow", new ConnectError("too slow", Code.DeadlineExceeded)],
])("the part of a page from a service that %s is missing, and the reason is noted", async (_, error) => {
  const noteMissing = vi.fn<(service: string, error: unknown) => void>();
  expect(await partOf({ noteMissing }, "delivery", Promise.reject(error))).toEqual({ down: "delivery" });
  expect(noteMissing).toHaveBeenCalledExactlyOnceWith("delivery", error);
});

test("the error not_found of a service is rethrown, and no part of the page is noted as missing", async () => {
  const error = new ConnectError("no such endpoint", Code.NotFound);
  const noteMissing = vi.fn<(service: string, error: unknown) => void>();
  await expect(partOf({ noteMissing }, "delivery", Promise.reject(error))).rejects.toBe(error);
  expect(noteMissing).not.toHaveBeenCalled();
});
