import { expect, test, vi } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { schemaCheck } from "./json-schema-type.ts";

test("a pattern may match anywhere in a value", () => {
  const check = compileSchema({ type: "string", pattern: "b" });
  expect([check("abc"), check("acd")]).toEqual([true, false]);
});

test("a pattern may contain a Unicode class", () => {
  const check = compileSchema({ type: "string", pattern: String.raw`^\p{L}$` });
  expect([check("é"), check("1")]).toEqual([true, false]);
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

test("uniqueItems compares items by their whole value and type, whatever the order of members", () => {
  const check = compileSchema({ type: "array", uniqueItems: true });
  expect(check([1, "1", [1], { a: 1, b: 2 }, { a: 1, b: 3 }])).toBe(true);
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

test.each([
  ["keyword, when strict", { requierd: ["a"] }, true, "requierd"],
  ["format, when strict", { type: "string", format: "no-such" }, true, "no-such"],
  ["type", { type: "nonsense" }, false, "nonsense"],
  ["target of a reference", { $ref: "https://elsewhere.example/schema" }, false, "elsewhere.example"],
])("a schema is not compiled with an unknown %s", (_, schema, strict, named) => {
  expect(() => compileSchema(schema, { strict })).toThrow(named);
});

test("a check against a schema that refers to itself for ever gives a violation, not a crash", () => {
  const check = schemaCheck({ shape: { allOf: [{ $ref: "#" }] }, complete: {} });
  expect(check({ title: "T", meta: {}, content: {}, links: [] }, "shape")).toMatchObject([{ pointer: "" }]);
});
