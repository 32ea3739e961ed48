import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { expect, test } from "vitest";
import { documentPages, pagePlace, pageSize } from "./requests.ts";

const all = (values: readonly (string | number)[]) => values;

test("a page token names a place, and no token the first page", () => {
  const id = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";
  expect(pagePlace(encodeOpaqueToken([1_767_607_200_000, id]), all)).toEqual([1_767_607_200_000, id]);
  expect(pagePlace("", all)).toBeUndefined();
});

test("a token whose values name no place, and one that was not made here, is invalid", () => {
  expect(() => pagePlace(encodeOpaqueToken([1]), () => undefined)).toThrow("page_token must be one");
  expect(() => pagePlace("AAAA", all)).toThrow("page_token must be one that an earlier page gave");
});

test("a page has the size that was asked for, within the list's rule", () => {
  expect([0, 1, 200].map((limit) => pageSize(limit, documentPages))).toEqual([50, 1, 200]);
  expect(() => pageSize(201, documentPages)).toThrow("limit must be from 1 to 200, or 0 for 50");
});
