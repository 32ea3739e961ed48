import { expect, test } from "vitest";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "./opaque-token.ts";

test("a decoded token has the values that were encoded", () => {
  for (const values of [[], [0], [1_767_607_200_000, "news", "é\u{1f600}", 7]]) {
    expect(decodeOpaqueToken(encodeOpaqueToken(values))).toEqual(values);
  }
});

test("a token is the base64url of the JSON array [1, ...values], without a signature", () => {
  expect(encodeOpaqueToken([12, "a"])).toBe(Buffer.from('[1,12,"a"]').toString("base64url"));
});

const token = (json: string) => Buffer.from(json).toString("base64url");
test.each([
  ["an empty text", ""],
  ["a text that is no base64url", "!!"],
  ["a token that holds no JSON", token("1 2")],
  ["JSON that is no array", token('{"0":1}')],
  ["an array of another version", token('[2,"a"]')],
  ["an array with a nested array", token('[1,["a"]]')],
  ["an array with null", token("[1,null]")],
  ["JSON with white space", token('[1, "a"]')],
  ["a token with padding", `${token("[1,2]")}=`],
  ["a token in the other base64 alphabet", token('[1,"???>>>"]').replaceAll("_", "/").replaceAll("-", "+")],
  ["a token of 258 characters", encodeOpaqueToken(["a".repeat(187)])],
])("decodeOpaqueToken returns undefined for %s", (_, text) => {
  expect(decodeOpaqueToken(text)).toBeUndefined();
});

test("a token of more than 256 characters is decoded when its caller allows that length", () => {
  const values = ["a".repeat(187)];
  expect(decodeOpaqueToken(encodeOpaqueToken(values), 300)).toEqual(values);
});

test("isEpochMs accepts only whole milliseconds within the range of Date", () => {
  expect([0, -8.64e15, 8.64e15].every(isEpochMs)).toBe(true);
  expect([undefined, "0", 0.5, -8.64e15 - 2, 8.64e15 + 2].some(isEpochMs)).toBe(false);
});
