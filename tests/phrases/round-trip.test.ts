import { beforeAll, expect, test } from "vitest";
import { openDictionary, phrasesOf } from "../support/dictionary.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";
import { openTenants } from "../support/tenants.ts";

let stack: SharedConstellation;
let demo: ReturnType<typeof openDictionary>;
let rival: ReturnType<typeof openDictionary>;

/** Phrases as they are sent and as they are stored. */
const awkward: readonly (readonly [what: string, sent: string, kept: string])[] = [
  ["quotes", 'sa "hej"', 'sa "hej"'],
  ["nothing but a quote", '"', '"'],
  ["two quotes", '""', '""'],
  ["a comma", "bröd, smör", "bröd, smör"],
  ["a comma in quotes", '"a","b"', '"a","b"'],
  ["an emoji of several code points", "familj 👨‍👩‍👧‍👦", "familj 👨‍👩‍👧‍👦"],
  ["Arabic", "القاهرة", "القاهرة"],
  ["Hebrew with marks of direction", "\u200fתל אביב\u200f", "\u200fתל אביב\u200f"],
  ["Han", "北京", "北京"],
  ["NFD, which becomes NFC", "A\u030angstro\u0308m", "Ångström"],
  ["a Kelvin sign, which NFC makes a K", "300 \u212a", "300 K"],
  ["a ligature, which NFC leaves", "ﬁlm", "ﬁlm"],
  ["a combining mark alone", "\u0301", "\u0301"],
  ["=, as a formula begins", "=1+1", "=1+1"],
  ["+", "+46", "+46"],
  ["-, as an affix begins", "-isk", "-isk"],
  ["@", "@handle", "@handle"],
  ["' as spreadsheets escape", "'=1", "'=1"],
  ["a no-break space inside", "10\u00a0000", "10\u00a0000"],
  ["white space around", "\u2003 \u00a0ord\u3000\t", "ord"],
  ["two spaces inside", "a  b", "a  b"],
  ["a backslash", String.raw`C:\n`, String.raw`C:\n`],
  ["a bar", "a|b", "a|b"],
  ["a semicolon", "a;b", "a;b"],
  ["a hash", "#tagg", "#tagg"],
  ["true", "true", "true"],
  ["null", "null", "null"],
  ["a number", "007", "007"],
  ["HTML", "<b>&amp;</b>", "<b>&amp;</b>"],
  ["__proto__", "__proto__", "__proto__"],
  ["a dollar and braces", "${a} $oid", "${a} $oid"],
  ["a zero width joiner", "\u200d", "\u200d"],
  ["a private use character", "\ue000", "\ue000"],
  ["a noncharacter", "\uffff", "\uffff"],
  ["256 code points of two units", "😀".repeat(256), "😀".repeat(256)],
];

const refused = [
  ["a line feed", "a\nb"],
  ["a carriage return", "a\rb"],
  ["a tab", "a\tb"],
  ["NUL", "a\0b"],
  ["DEL", "a\u007fb"],
  ["NEL", "a\u0085b"],
  ["a line separator", "a\u2028b"],
  ["a paragraph separator", "a\u2029b"],
  ["no text", ""],
  ["nothing but white space", "\u3000 "],
  ["257 code points", "å".repeat(257)],
  ["257 code points of two units", "😀".repeat(257)],
] as const;

beforeAll(async () => {
  stack = await sharedConstellation();
  using tenants = openTenants(stack.dev);
  demo = openDictionary(stack.dev.gateway, (await tenants.create()).apiKey);
  rival = openDictionary(stack.dev.gateway, (await tenants.create()).apiKey);
});

test.for(awkward)("text and description come back as sent but for trimming and NFC: %s", async ([, sent, kept]) => {
  expect((await demo.put({ language: "mul", phrase: sent })).phrase).toBe(kept);
  const mistakes = [kept.replaceAll("|", "/"), "x"];
  const full = await demo.put({ language: "mul", phrase: sent, description: sent, commonMistakes: mistakes });
  expect(full).toMatchObject({ phrase: kept, description: kept, commonMistakes: mistakes });
});

test.for(refused)("a phrase with %s is refused", async ([, phrase]) => {
  for (const send of [
    () => demo.send("PUT", "", JSON.stringify({ language: "sv", phrase })),
    () => demo.import(JSON.stringify([{ language: "sv", phrase }]), "application/json"),
    () => demo.import(`language,phrase\r\nsv,"${phrase}"\r\n`),
  ]) {
    expect((await send()).status).toBe(400);
  }
  expect(await phrasesOf(demo.get("?language=sv"))).toEqual([]);
});

test.for(["csv", "json"])("a %s export imported back changes not a byte of the next export", async (format) => {
  const exported = async () => Buffer.from(await (await demo.get(`?format=${format}`)).arrayBuffer());
  const before = await exported();
  const { phrases } =
    format === "json" ? (JSON.parse(before.toString()) as { data: { phrases: [] } }).data : { phrases: [] };
  const response =
    format === "csv" ? await demo.import(before) : await demo.import(JSON.stringify({ phrases }), "application/json");
  const data = { imported: awkward.length, created: 0, changed: 0, unchanged: awkward.length };
  expect(await response.json()).toEqual({ ok: true, data });
  expect(await exported()).toEqual(before);
  expect((await phrasesOf(demo.get())).map(({ phrase }) => phrase).toSorted()).toEqual(
    awkward.map(([, , kept]) => kept).toSorted(),
  );
});

test("a CSV export imported into an empty tenant gives it the same phrases but for createdAt and updatedAt", async () => {
  const csv = await (await demo.get("?format=csv")).text();
  expect((await rival.import(csv)).status).toBe(200);
  const undated = async (dictionary: typeof demo) =>
    (await phrasesOf(dictionary.get())).map(({ createdAt: _created, updatedAt: _updated, ...phrase }) => phrase);
  expect(await undated(rival)).toEqual(await undated(demo));
});
