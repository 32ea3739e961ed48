import { expect, test } from "vitest";
import { encodeOpaqueToken } from "./opaque-token.ts";
import { pagePosition, pageSize } from "./page-request.ts";

const readName = ([name]: readonly (string | number)[]) => (typeof name === "string" ? { name } : undefined);

test("a page has as many rows as its limit says, 50 for none, and at most 200 or what the list allows", () => {
  expect([0, 1, 200].map((limit) => pageSize(limit))).toEqual([50, 1, 200]);
  expect(pageSize(5_000, 5_000)).toBe(5_000);
  expect(() => pageSize(201)).toThrow(
    expect.objectContaining({
      kind: "invalid",
      message: "limit must be from 1 to 200, or 0 for 50",
      violations: [{ pointer: "/limit", message: "must be from 1 to 200, or 0 for 50" }],
    }),
  );
});

test("a page token is the position that an earlier page encoded, and no token is the first page", () => {
  expect(pagePosition(encodeOpaqueToken(["ada"]), readName)).toEqual({ name: "ada" });
  expect(pagePosition("", readName)).toBeUndefined();
});

test.each([
  ["that cannot be decoded", "AAAA", undefined],
  ["of another list", encodeOpaqueToken([7]), undefined],
  ["that is too long", encodeOpaqueToken(["a".repeat(64)]), 64],
])("a token %s is refused", (_what, token, charactersMax) => {
  expect(() => pagePosition(token, readName, charactersMax)).toThrow(
    expect.objectContaining({ kind: "invalid", message: "pageToken must be one that an earlier page gave" }),
  );
});
