import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { expect, test } from "vitest";
import { documentPages, pagePosition, pageSize } from "./requests.ts";

const all = (values: readonly (string | number)[]) => values;

test("a page token is read as the position that it was made of", () => {
  const id = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";
  expect(pagePosition(encodeOpaqueToken([1_767_607_200_000, id]), all)).toEqual([1_767_607_200_000, id]);
});

test("an empty page token names the first page", () => {
  expect(pagePosition("", all)).toBeUndefined();
});

test("a page token whose values name no position is refused", () => {
  const read = () => undefined;
  expect(() => pagePosition(encodeOpaqueToken([1]), read)).toThrow("page_token must be one that an earlier page gave");
});

test("a page token that cannot be decoded is refused", () => {
  expect(() => pagePosition("AAAA", all)).toThrow("page_token must be one that an earlier page gave");
});

test("the page size is the limit, or the default for a limit of 0", () => {
  expect([0, 1, 200].map((limit) => pageSize(limit, documentPages))).toEqual([50, 1, 200]);
});

test("a limit above the maximum is refused", () => {
  expect(() => pageSize(201, documentPages)).toThrow("limit must be from 1 to 200, or 0 for 50");
});
