import { expect, test } from "vitest";
import type { JsonObject } from "../json/json-value.ts";
import { appliedSchemasMax, boundReferences } from "./bound-references.ts";

/** A schema whose definitions each refer to the next one several times, as `again` says. */
function doubling(levels: number, again: (reference: JsonObject) => JsonObject): JsonObject {
  const $defs: JsonObject = { [`d${levels}`]: {} };
  for (let level = 0; level < levels; level += 1) $defs[`d${level}`] = again({ $ref: `#/$defs/d${level + 1}` });
  return { $defs, $ref: "#/$defs/d0" };
}

test.each<[string, (reference: JsonObject) => JsonObject]>([
  ["allOf", (reference) => ({ allOf: [reference, reference] })],
  ["anyOf and not", (reference) => ({ anyOf: [reference], not: reference })],
  ["if and else", (reference) => ({ if: reference, else: reference })],
  ["dependentSchemas", (reference) => ({ dependentSchemas: { a: reference, b: reference } })],
])(`references that apply more than ${appliedSchemasMax} schemas to one value are refused: %s`, (_, again) => {
  expect(() => boundReferences(doubling(40, again))).toThrow(`more than ${appliedSchemasMax} schemas`);
  expect(() => boundReferences(doubling(5, again))).not.toThrow();
});

test("references in `properties` and `items` do not count towards the bound on schemas for one value", () => {
  expect(() =>
    boundReferences(doubling(40, (reference) => ({ properties: { a: reference, b: reference }, items: reference }))),
  ).not.toThrow();
  const node: JsonObject = { properties: { next: { $ref: "#/$defs/node" } }, items: { $ref: "#" } };
  expect(() => boundReferences({ $defs: { node }, $ref: "#/$defs/node" })).not.toThrow();
});

test.each<[string, JsonObject]>([
  ["directly", { allOf: [{ $ref: "#" }] }],
  ["by way of another", { $defs: { a: { $ref: "#/$defs/b" }, b: { not: { $ref: "#/$defs/a" } } } }],
  ["by an anchor", { $anchor: "me", anyOf: [{}, { $ref: "#me" }] }],
  ["dynamically", { $dynamicAnchor: "me", oneOf: [{ $dynamicRef: "#me" }] }],
  ["below a member", { properties: { a: { $anchor: "a", if: { $ref: "#a" } } } }],
  ["under a keyword that has no schemas", { $ref: "#/examples/0", examples: [{ $ref: "#/examples/0" }] }],
])("a schema that refers to itself for the same value is refused: %s", (_, schema) => {
  expect(() => boundReferences(schema)).toThrow("for ever");
});

test.each<[string, JsonObject, string]>([
  ["a reference to elsewhere", { $ref: "https://a.example/b" }, "does not begin with #"],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "leads nowhere"],
  ["an $id below the top", { properties: { a: { $id: "https://a.example/b" } } }, "$id may stand at the top only"],
])("%s is refused", (_, schema, message) => {
  expect(() => boundReferences(schema)).toThrow(message);
});

test("properties named $ref or $id, and a $ref in a const, are not taken for keywords", () => {
  const properties = { $id: { type: "string" }, $ref: { type: "string" }, "a/b~c": {} };
  expect(() =>
    boundReferences({ $id: "https://a.example/", properties, const: { $ref: "#/none" }, $ref: "#/properties/a~1b~0c" }),
  ).not.toThrow();
});
