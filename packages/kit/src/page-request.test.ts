import { expect, test } from "vitest";
import { encodeOpaqueToken } from "./opaque-token.ts";
import { pagePosition, pageSize } from "./page-request.ts";

const readName = ([name]: readonly (string | number)[]) => (typeof name === "string" ? { name } : undefined);

test("the size of a page is its limit, or 50 when the limit is 0", () => {
  expect([0, 1, 200].map((limit) => pageSize(limit))).toEqual([50, 1, 200]);
});

test("a limit above the maximum of its list, 200 by default, is refused", () => {
  expect(pageSize(5_000, 5_000)).toBe(5_000);
  expect(() => pageSize(5_001, 5_000)).toThrow("limit must be from 1 to 5000");
  expect(() => pageSize(201)).toThrow(
    expect.objectContaining({
      kind: "invalid",
      message: "limit must be from 1 to 200, or 0 for 50",
      violations: [{ pointer: "/limit", message: "must be from 1 to 200, or 0 for 50" }],
    }),
  );
});

test("a page token is decoded to the position that an earlier page encoded", () => {
  expect(pagePosition(encodeOpaqueToken(["ada"]), readName)).toEqual({ name: "ada" });
});

test("without a page token a page has no position", () => {
  expect(pagePosition("", readName)).toBeUndefined();
});

test.each([
  ["that cannot be decoded", "AAAA", undefined],
  ["of another list", encodeOpaqueToken([7]), undefined],
  ["that is too long", encodeOpaqueToken(["a".repeat(64)]), 64],
])("a page token %s is refused", (_what, token, charactersMax) => {
  expect(() => pagePosition(token, readName, charactersMax)).toThrow(
    expect.objectContaining({ kind: "invalid", message: "pageToken must be one that an earlier page gave" }),
  );
});
