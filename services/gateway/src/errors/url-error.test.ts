import { expect, test } from "vitest";
import { urlFault } from "./url-error.ts";

const limit = { instancePath: "/limit", params: {} };

test.each([
  ['"lang" is unknown', { keyword: "additionalProperties", instancePath: "", params: { additionalProperty: "lang" } }],
  ['"type" is required', { keyword: "required", instancePath: "", params: { missingProperty: "type" } }],
  ['"limit" must be given once', { ...limit, keyword: "type", params: { type: "string" } }],
  ['"limit" must be from 1 to 100', { ...limit, keyword: "pattern", parentSchema: { "x-must": "from 1 to 100" } }],
  ['"tags" must be news', { ...limit, keyword: "enum", instancePath: "/tags/0", params: { allowedValues: ["news"] } }],
])("a fault of a URL is INVALID_QUERY with the words: query parameter %s", (words, fault) => {
  const { code, message } = urlFault([fault], "querystring");
  expect([code, message]).toEqual(["INVALID_QUERY", `query parameter ${words}`]);
});

test("of several faults of a path only the first is described", () => {
  const id = { keyword: "pattern", instancePath: "/id", params: {}, parentSchema: { "x-must": "a UUID" } };
  const other = { ...id, instancePath: "/version" };
  expect(urlFault([id, other], "params").message).toBe('path parameter "id" must be a UUID');
});

test("when the validator reports no fault, the message says only that the path parameters are not valid", () => {
  expect(urlFault([], "params").message).toBe("the path parameters are not valid");
});
