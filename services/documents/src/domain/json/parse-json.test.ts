import { DomainError } from "@vidimus/kit/errors";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import type { JsonValue } from "./json-value.ts";
import { depthMax, documentBytesMax, parseJson } from "./parse-json.ts";

function parse(text: string): JsonValue {
  return parseJson(Buffer.from(text));
}

function refusal(body: string | Uint8Array): { kind: string; pointers: string[]; message: string } {
  try {
    parseJson(typeof body === "string" ? Buffer.from(body) : body);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { kind: error.kind, pointers: error.violations.map(({ pointer }) => pointer), message: error.message };
  }
  throw new Error("it was taken");
}

function nested(levels: number, inner = ""): string {
  return "[".repeat(levels) + inner + "]".repeat(levels);
}

test.each<[string, string, string]>([
  ["a lone high surrogate", String.raw`{"a":["x","\ud83d"]}`, "/a/1"],
  ["a lone low surrogate", String.raw`{"a":"\udE00 "}`, "/a"],
  ["surrogates in the wrong order", String.raw`["\ude00\ud83d"]`, "/0"],
  ["a lone surrogate in a name", String.raw`{"a":{"\ud83d":1}}`, "/a/\ufffd"],
  ["__proto__", '{"a":{"__proto__":{"admin":true}}}', "/a/__proto__"],
  ["__proto__ with an escaped letter", String.raw`{"\u005f_proto__":1}`, "/__proto__"],
  ["an overflow", '{"a/b":{"c~d":1e400}}', "/a~1b/c~0d"],
  ["a negative overflow", "[-1E+309]", "/0"],
  ["2^53 + 1", '{"n":[0,9007199254740993]}', "/n/1"],
  ["-(2^53 + 1)", "[-9007199254740993]", "/0"],
  ["the largest unsigned 64-bit integer", '{"id":18446744073709551615}', "/id"],
  ["an integer of 60 digits", `[${"1234567890".repeat(6)}]`, "/0"],
])("a value or name that cannot be stored is refused with its pointer: %s", (_, text, pointer) => {
  expect(refusal(text)).toMatchObject({ kind: "invalid", pointers: [pointer] });
});

test.each<[string, string | Uint8Array]>([
  ["nothing", ""],
  ["half a document", '{"a":'],
  ["JavaScript", "{a:1}"],
  ["NaN", "[NaN]"],
  ["two values", "{} {}"],
  ["JSON after a byte order mark", "\ufeff{}"],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["an encoded surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ["UTF-16", Buffer.from('{"a":1}', "utf16le")],
])("a body of %s is invalid", (_, body) => {
  expect(refusal(body).kind).toBe("invalid");
});

test("a byte order mark is named in the refusal", () => {
  expect(refusal("\ufeff{}").message).toContain("byte order mark");
});

test("a refusal that quotes half of a surrogate pair of the body is still well-formed Unicode", () => {
  const { message } = refusal(`{"😀😀😀😀😀😀":${"😀".repeat(30)}`);
  expect(message.isWellFormed()).toBe(true);
  expect(message).toContain("\ufffd");
});

test(`nesting beyond ${depthMax} levels is refused, however deep, without a stack overflow`, () => {
  expect(parse(nested(depthMax))).toBeDefined();
  expect(refusal(nested(depthMax + 1)).pointers).toEqual(["/0".repeat(depthMax)]);
  expect(refusal(nested(documentBytesMax / 2)).kind).toBe("invalid");
  expect(refusal('{"a":'.repeat(170_000) + "1" + "}".repeat(170_000)).kind).toBe("invalid");
});

test("a body of more than 1 MiB is too_large, one of exactly 1 MiB is not", () => {
  const text = JSON.stringify("x".repeat(documentBytesMax - 2));
  expect(parse(text)).toHaveLength(documentBytesMax - 2);
  expect(refusal(`${text} `).kind).toBe("too_large");
});

test.each<[string, string, JsonValue]>([
  ["2^53", "9007199254740992", 2 ** 53],
  ["2^53 + 2", "9007199254740994", 2 ** 53 + 2],
  ["2^60", "1152921504606846976", 2 ** 60],
  ["2^60 in the digits that ECMAScript prints", "1152921504606847000", 2 ** 60],
  ["1e21", "1e21", 1e21],
  ["6.02214076e23", "6.02214076e23", 6.022_140_76e23],
  ["0.1 in 34 digits", "0.1000000000000000055511151231257827", 0.1],
  ["a fraction below the smallest double", "1e-400", 0],
  ["-0", "-0", -0],
  ["an escaped pair of surrogates", String.raw`"\ud83d\ude00"`, "😀"],
  ["an escaped NUL", String.raw`"\u0000"`, "\0"],
  ["a name that stands twice", '{"a":1,"a":2}', { a: 2 }],
  [
    "2^53 + 1 under a name that comes again",
    '{"a":9007199254740993,"b":"\\\\","a":9007199254740992}',
    { a: 2 ** 53, b: "\\" },
  ],
  [
    "an overflow under a name that comes again",
    `{"a":${"9".repeat(400)},"a":1,"b":9007199254740992}`,
    { a: 1, b: 2 ** 53 },
  ],
  [
    "2^53 + 1 within a name and a string",
    String.raw`{"\"9007199254740993":[9007199254740992,"\\\" 9007199254740993"]}`,
    { '"9007199254740993': [2 ** 53, '\\" 9007199254740993'] },
  ],
  [
    "names that every object has",
    '{"constructor":{"prototype":1},"toJSON":2}',
    { constructor: { prototype: 1 }, toJSON: 2 },
  ],
  ["white space", ' \n{"a" : [ ] }\t', { a: [] }],
])("JSON is read as ECMAScript reads it: %s", (_, text, value) => {
  expect(parse(text)).toEqual(value);
});

const texts = fc
  .jsonValue({ stringUnit: "binary", maxDepth: 6 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes('"__proto__"'));

test("the canonical form of a document parses to the same value", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(JSON.parse(canonicalJson(parse(text)).toString())).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test("the canonical form of a document is its own canonical form", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const canonical = canonicalJson(parse(text));
      expect(canonicalJson(parseJson(canonical))).toEqual(canonical);
    }),
    { numRuns: 500 },
  );
});

test("an integer is taken if its nearest double equals it, as a number or as text, and else refused", () => {
  const large = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
  fc.assert(
    fc.property(large, (integer) => {
      const double = Number(integer);
      const kept = BigInt(double) === integer || String(double) === String(integer);
      const outcome = kept ? parse(`{"n":${integer}}`) : refusal(`{"n":${integer}}`);
      expect(outcome).toMatchObject(kept ? { n: double } : { pointers: ["/n"] });
    }),
    { numRuns: 2_000, examples: [[2n ** 53n - 1n], [2n ** 53n], [2n ** 53n + 1n], [2n ** 64n], [-(2n ** 53n) - 1n]] },
  );
});

test("the canonical form sorts names by UTF-16 code units", () => {
  const text = String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7,"10":8,"9":9}`;
  const order = [...canonicalJson(parse(text)).toString().matchAll(/:(\d)/g)].map(([, digit]) => Number(digit));
  expect(order).toEqual([2, 4, 8, 9, 6, 7, 1, 5, 3]);
});

test("the canonical form writes numbers as ECMAScript does", () => {
  expect(canonicalJson(parse("[1e21,1E-7,-0,1.0,333333333.33333329,100]")).toString()).toBe(
    "[1e+21,1e-7,0,1,333333333.3333333,100]",
  );
});
