/** Pages of a dictionary, searches in it, and single phrases. */
import { profiled } from "@vidimus/devstack/testing/profile";
import { PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { toPageToken } from "../src/domain/phrase-page.ts";
import { collect, openPhrases } from "./support/open-phrases.ts";

let phrases: Awaited<ReturnType<typeof openPhrases>>;

beforeAll(async () => {
  phrases = await openPhrases();
});

afterAll(async () => {
  await phrases?.[Symbol.asyncDispose]();
});

const numbered = (count: number, language: string, word = "ord") =>
  Array.from({ length: count }, (_, n) => ({ language, phrase: `${word} ${String(n).padStart(6, "0")}` }));

test("the pages of all languages, and those of one, hold every phrase once, in order", async () => {
  const tenantId = phrases.newTenant();
  const rows = [...numbered(5, "de"), ...numbered(4, "sv"), { language: "sv", phrase: "😀".repeat(256) }];
  await phrases.import(tenantId, rows);
  await phrases.import(phrases.newTenant(), numbered(3, "sv", "fremd"));
  const all = rows.map(({ phrase }) => phrase);
  for (const limit of [1, 3, 5, 10, 200]) {
    expect((await phrases.pages({ tenantId }, limit)).phrases).toEqual(all);
    expect((await phrases.pages({ tenantId, language: "SV" }, limit)).phrases).toEqual(all.slice(5));
  }
  expect((await phrases.pages({ tenantId }, 5)).sizes).toEqual([5, 5]);
});

test("a later page of 10 phrases examines fewer than 16 rows and does not sort", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [...numbered(400, "de"), ...numbered(400, "sv")]);
  const first = await phrases.page({ tenantId }, 200);
  await using client = await new MongoClient(inject("mongoUrl")).connect();
  const db = client.db(phrases.database);
  const { entries: finds } = await profiled(db, { "command.find": "phrases" }, async () => {
    for (const request of [{ tenantId }, { tenantId, language: "de" }]) {
      await phrases.page({ ...request, pageToken: first.next }, 10);
    }
  });
  expect(finds).toHaveLength(2);
  for (const { keysExamined, docsExamined, hasSortStage = false } of finds) {
    expect(keysExamined).toBeLessThan(16);
    expect(docsExamined).toBeLessThan(16);
    expect(hasSortStage).toBe(false);
  }
});

/** A tenant with phrases, and a search in them. */
async function openTexts() {
  const tenantId = phrases.newTenant();
  const texts = ["Kött", "köttbulle", "rökt KÖTT", "kott", "3.14", "3514", "a|b"];
  await phrases.import(
    tenantId,
    texts.map((phrase) => ({ language: "sv", phrase })),
  );
  const found = async (contains: string) => (await phrases.pages({ tenantId, contains })).phrases;
  return { tenantId, found };
}

test("a search takes its text literally", async () => {
  const { found } = await openTexts();
  expect(await found("3.1")).toEqual(["3.14"]);
  expect(await found("a|b")).toEqual(["a|b"]);
  expect(await found("(")).toEqual([]);
});

test("a search finds the text anywhere in a phrase, in any case, composed or decomposed", async () => {
  const { tenantId, found } = await openTexts();
  expect(await found("kött")).toEqual(["Kött", "köttbulle", "rökt KÖTT"]);
  expect(await found("ttbull")).toEqual(["köttbulle"]);
  expect(await found("KO\u0308TT")).toEqual(["Kött", "köttbulle", "rökt KÖTT"]);
  expect((await phrases.pages({ tenantId, contains: "kött" }, 1)).phrases).toEqual(["Kött", "köttbulle", "rökt KÖTT"]);
  expect((await phrases.pages({ tenantId, contains: "kött", language: "de" })).phrases).toEqual([]);
});

test("a phrase of the greatest length, 256 characters, is found by its whole text", async () => {
  const tenantId = phrases.newTenant();
  const phrase = "😀".repeat(256);
  await phrases.import(tenantId, [{ language: "mul", phrase }]);
  expect((await phrases.pages({ tenantId, contains: phrase })).phrases).toEqual([phrase]);
});

test("a search looks at 20,000 phrases a page, and the next page continues there", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [...numbered(20_000, "de"), { language: "sv", phrase: "nål" }]);
  expect(await phrases.pages({ tenantId, contains: "nål" })).toEqual({ phrases: ["nål"], sizes: [0, 1] });
  expect((await phrases.pages({ tenantId, contains: "ord 01999" })).phrases).toHaveLength(10);
});

test.for([
  ["a limit over 200", { limit: 201 }],
  ["a search without a limit", { contains: "a" }],
  ["a page token without a limit", { pageToken: toPageToken({ language: "sv", phrase: "a" }) }],
  ["a page token that holds no position", { limit: 1, pageToken: "WzFd" }],
  ["a search for 257 characters", { limit: 1, contains: "a".repeat(257) }],
  ["a language tag with an underscore", { limit: 1, language: "sv_SE" }],
] as const)("%s is INVALID_ARGUMENT", async ([, request]) => {
  const list = collect(phrases.client.listPhrases({ tenantId: "demo", format: PhraseFormat.JSON, ...request }));
  await expect(list).rejects.toThrow(/invalid_argument/);
});

test("a page token of one language is INVALID_ARGUMENT for another", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [...numbered(2, "de"), ...numbered(2, "sv")]);
  const { next } = await phrases.page({ tenantId, language: "de" }, 1);
  await expect(phrases.page({ tenantId, language: "sv", pageToken: next })).rejects.toThrow(/invalid_argument/);
});

/** A tenant with one phrase. */
async function openOne() {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, numbered(1, "sv"));
  const [stored] = (await phrases.page({ tenantId })).phrases;
  return { tenantId, stored };
}

test("a phrase is read by its id", async () => {
  const { tenantId, stored } = await openOne();
  const { phraseJson } = await phrases.client.getPhrase({ tenantId, phraseId: stored!.id.toUpperCase() });
  expect(JSON.parse(Buffer.from(phraseJson).toString())).toEqual(stored);
});

test("an id that no phrase of the tenant has is NOT_FOUND", async () => {
  const { tenantId, stored } = await openOne();
  for (const request of [
    { tenantId: phrases.newTenant(), phraseId: stored!.id },
    { tenantId, phraseId: "nonsense" },
    { tenantId, phraseId: crypto.randomUUID() },
  ]) {
    await expect(phrases.client.getPhrase(request)).rejects.toThrow(/not_found/);
  }
});
