import { expect, test, vi } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { schemaCheck } from "./json-schema-type.ts";

test("a pattern with a Unicode class matches anywhere in a value", () => {
  const check = compileSchema({ type: "string", pattern: String.raw`b\p{L}` });
  expect([check("abé"), check("ab1")]).toEqual([true, false]);
});

test("a pattern with nested repetitions is matched without backtracking", () => {
  const greedy = compileSchema({ type: "string", pattern: "^(a+)+$" });
  expect(greedy("a".repeat(2_000))).toBe(true);
  // A backtracking engine would take longer than the universe has existed.
  expect(greedy(`${"a".repeat(2_000)}!`)).toBe(false);
});

test.each(["(?=a)b", String.raw`(a)\1`, "("])("a pattern that RE2 does not accept is refused: %s", (pattern) => {
  expect(() => compileSchema({ type: "string", pattern })).toThrow();
});

test("uniqueItems compares whole values with their types, and ignores the order of members", () => {
  const check = compileSchema({ type: "array", uniqueItems: true });
  expect(check([1, "1", [1], { a: 1, b: 2 }])).toBe(true);
  expect(
    check([
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).toBe(false);
  expect(compileSchema({ uniqueItems: false })([1, 1])).toBe(true);
});

test("many faults are found without copying the list of faults for each new one", () => {
  const item = { type: "object", properties: { uri: { type: "string", minLength: 2 } }, required: ["rel", "type"] };
  const list = { items: { $ref: "#/$defs/item" }, contains: { anyOf: [{ $ref: "#/$defs/item" }, { const: 1 }] } };
  const check = compileSchema({ $defs: { item }, properties: { list, other: list } }, { allErrors: true });
  const copying = vi.spyOn(Array.prototype, "concat");
  expect(check({ list: Array.from({ length: 1_000 }, () => ({ uri: "" })), other: [1, { rel: 1, type: 2 }] })).toBe(
    false,
  );
  expect(copying).not.toHaveBeenCalled();
  copying.mockRestore();
  const pointers = check.errors!.map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
  expect(pointers.slice(0, 3)).toEqual(["/list/0 required", "/list/0 required", "/list/0/uri minLength"]);
  expect(
    pointers.filter((each) => /^\/list\/\d+(\/uri)? (required|minLength)$/.test(each)).length,
  ).toBeGreaterThanOrEqual(3_000);
  expect(pointers.filter((each) => each.startsWith("/other"))).toEqual(["/other/0 type"]);
  expect(check({ list: [{ rel: 1, type: 2 }], other: [{ rel: 1, type: 2, uri: "ab" }] })).toBe(true);
});

test("a schema with an unknown keyword, format, type or target of a reference is not compiled", () => {
  expect(() => compileSchema({ requierd: ["a"] }, { strict: true })).toThrow("requierd");
  expect(() => compileSchema({ type: "string", format: "no-such" }, { strict: true })).toThrow("no-such");
  expect(() => compileSchema({ $ref: "https://elsewhere.example/schema" })).toThrow();
  expect(() => compileSchema({ type: "nonsense" })).toThrow();
});

test("a check against a schema that refers to itself for ever gives a violation, not a crash", () => {
  const check = schemaCheck({ shape: { allOf: [{ $ref: "#" }] }, complete: {} });
  expect(check({ title: "T", meta: {}, content: {}, links: [] }, "shape")).toMatchObject([{ pointer: "" }]);
});
