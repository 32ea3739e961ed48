/** What calls read of a dictionary whose ids and texts have one order, as an import makes them. */
import { type Document, MongoClient } from "mongodb";
import { profiled } from "@vidimus/devstack/testing/profile";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { openPhrases } from "./support/open-phrases.ts";

const opened = new AsyncDisposableStack();
let phrases: Awaited<ReturnType<typeof openPhrases>>;
let client: MongoClient;

beforeAll(async () => {
  phrases = opened.use(await openPhrases());
  client = opened.adopt(await new MongoClient(inject("mongoUrl")).connect(), (each) => each.close());
});
// A plan that another test has left would hide which one MongoDB chooses.
beforeEach(() => client.db(phrases.database).command({ planCacheClear: "phrases" }));
afterAll(() => opened.disposeAsync());

const rowsOf = (language: string) =>
  Array.from({ length: 400 }, (_, n) => ({ language, phrase: `ord ${String(n).padStart(6, "0")}` }));
const wanted = rowsOf("sv").slice(0, 200);

/** A tenant with 400 phrases of `sv`, and then 400 of `de`. */
async function newDictionary(): Promise<string> {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, rowsOf("sv"));
  await phrases.import(tenantId, rowsOf("de"));
  return tenantId;
}

/** How many rows the commands of `work` read. Those that write one row are not counted. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const which = { ns: `${phrases.database}.phrases`, op: { $in: ["query", "getmore", "command", "remove"] } };
  const { entries } = await profiled(client.db(phrases.database), which, work);
  expect(entries).not.toEqual([]);
  return entries.reduce((sum, { docsExamined }: Document) => sum + (docsExamined as number), 0);
}

test("a search reads only the rows that it shows", async () => {
  const tenantId = await newDictionary();
  expect(await rowsRead(() => phrases.page({ tenantId, language: "sv", contains: "ord" }, 200))).toBe(200);
});

test("a dry run of an import in two languages reads the rows of its phrases once", async () => {
  const tenantId = await newDictionary();
  const both = [...wanted.slice(0, 100), ...rowsOf("de").slice(0, 100)];
  expect(await rowsRead(() => phrases.import(tenantId, both, { dryRun: true }))).toBe(200);
});

test("a dry run of an import reads the rows of its phrases once, whether or not the file has their ids", async () => {
  const tenantId = await newDictionary();
  expect(await rowsRead(() => phrases.import(tenantId, wanted, { dryRun: true }))).toBe(200);
  const exported = (await phrases.page({ tenantId, language: "sv" }, 200)).phrases;
  expect(await rowsRead(() => phrases.import(tenantId, exported, { dryRun: true }))).toBe(200);
  const renamed = exported.map(({ id, phrase }) => ({ id, language: "sv", phrase: `nytt ${phrase}` }));
  expect(await rowsRead(() => phrases.import(tenantId, renamed, { dryRun: true }))).toBe(200);
});

/** A dictionary, and 199 of its phrases, whose ids have a gap and whose texts have none. */
async function newDictionaryWithGap() {
  const tenantId = await newDictionary();
  const { phrases: all } = await phrases.page({ tenantId, language: "de" }, 200);
  const named = [...all.slice(0, 50), ...all.slice(51)];
  // By text the first rows are then the named ones, without a gap. So without a hint MongoDB would
  // prefer the index of texts to that of ids, and read the whole dictionary by it.
  await phrases.import(tenantId, [{ id: all[50]!.id, language: "sv", phrase: "sist" }]);
  return { tenantId, named };
}

test("a dry run of an import by ids that have a gap reads only the rows of its phrases", async () => {
  const { tenantId, named } = await newDictionaryWithGap();
  const renamed = named.map(({ id, phrase }) => ({ id, language: "de", phrase: `neu ${phrase}` }));
  expect(await rowsRead(() => phrases.import(tenantId, renamed, { dryRun: true }))).toBe(199);
});

test("BatchDeletePhrases of ids that have a gap reads only the rows that it deletes", async () => {
  const { tenantId, named } = await newDictionaryWithGap();
  const phraseIds = named.map(({ id }) => id);
  expect(await rowsRead(() => phrases.client.batchDeletePhrases({ tenantId, phraseIds }))).toBe(199);
});

test("deleting a language reads only the rows of that language", async () => {
  const tenantId = await newDictionary();
  const rowsOfDeletion = (dryRun: boolean) =>
    rowsRead(() => phrases.client.deleteLanguage({ tenantId, language: "sv", dryRun }));
  expect(await rowsOfDeletion(true)).toBe(0);
  // 400 to find them, and 400 to delete them.
  expect(await rowsOfDeletion(false)).toBe(800);
});
