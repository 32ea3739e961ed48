import canonicalize from "canonicalize";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import type { JsonValue } from "./json-value.ts";

/** Names that JavaScript orders by their number, and names around them. */
const names = fc.constantFrom(
  "",
  "0",
  "1",
  "9",
  "10",
  "01",
  "-1",
  "4294967294",
  "4294967295",
  "a",
  "é",
  "\ufb33",
  "😀",
);
const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

describe("the canonical form", () => {
  test("is what an independent canonicaliser writes, whatever the order of the members", () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(canonicalJson(value).toString()).toBe(canonicalize(value));
      }),
      { numRuns: 3_000 },
    );
  });

  test.for<[JsonValue, string]>([
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
    [{ 9: 1, 10: 2, a: 3 }, '{"10":2,"9":1,"a":3}'],
    [{ 1: 1, "-": 2 }, '{"-":2,"1":1}'],
    [[{ b: [{ d: 1, c: 2 }], a: null }], '[{"a":null,"b":[{"c":2,"d":1}]}]'],
    [{ toJSON: 1, constructor: 2 }, '{"constructor":2,"toJSON":1}'],
    [-0, "0"],
  ])("of %o is %s", ([value, text]) => {
    expect(canonicalJson(value).toString()).toBe(text);
  });

  test("is written without changing the value", () => {
    const value = [{ b: [{ d: 1, c: 2 }], a: null }];
    const before = JSON.stringify(value);
    canonicalJson(value);
    expect(JSON.stringify(value)).toBe(before);
  });
});
