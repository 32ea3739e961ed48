/** What an import answers, its dry run, and deleting many phrases. */
import { uuidv7 } from "@vidimus/kit/ids";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { Wanted, Write } from "../src/domain/dictionary.ts";
import type { PhraseDraft } from "../src/domain/phrase.ts";
import { upsertWithRetry } from "../src/domain/write-with-retry.ts";
import { PhraseStore } from "../src/store/phrase-store.ts";
import { openPhrases } from "./support/open-phrases.ts";

let phrases: Awaited<ReturnType<typeof openPhrases>>;

beforeAll(async () => {
  phrases = await openPhrases();
});

afterAll(async () => {
  await phrases?.[Symbol.asyncDispose]();
});

const sv = (phrase: string, more: object = {}) => ({ language: "sv", phrase, ...more });
const many = (count: number) => Array.from({ length: count }, (_, n) => sv(`ord ${n}`));

test("an import counts each phrase once, as created, changed or unchanged, in a dry run too", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [sv("a"), sv("b"), sv("c", { description: "alt", commonMistakes: ["k"] }), sv("x")]);
  const before = (await phrases.page({ tenantId })).phrases;
  const rows = [
    sv("a"),
    sv("b", { forbidden: true }),
    sv("c", { description: "neu", commonMistakes: ["k"] }),
    sv("d"),
    sv("e"),
    // These rows name phrases again: d by its text, a by its text with white space around it, x
    // twice by its id.
    sv("d", { description: "zuletzt" }),
    sv(" a "),
    { ...before[3], phrase: "y" },
    { ...before[3], phrase: "z" },
  ];
  const counts = { imported: 9, created: 2, changed: 3, unchanged: 1 };
  expect(await phrases.import(tenantId, rows, { dryRun: true })).toMatchObject({ ...counts, phraseIds: [] });
  expect((await phrases.page({ tenantId })).phrases).toEqual(before);
  expect(await phrases.import(tenantId, rows)).toMatchObject(counts);
  const again = { imported: 9, created: 0, changed: 2, unchanged: 4 };
  // The phrase z becomes y and then z again, and the phrase d is written twice as well.
  expect(await phrases.import(tenantId, rows)).toMatchObject(again);
});

test("two rows of one phrase count as one creation, also when thousands of rows are between them", async () => {
  const tenantId = phrases.newTenant();
  const rows = [...many(3_000), ...many(1_000)];
  const counts = { imported: 4_000, created: 3_000, changed: 0, unchanged: 0 };
  expect(await phrases.import(tenantId, rows, { dryRun: true })).toMatchObject(counts);
  expect(await phrases.import(tenantId, rows)).toMatchObject(counts);
  expect(await phrases.import(tenantId, rows)).toMatchObject({ ...counts, created: 0, unchanged: 3_000 });
});

test("a phrase that concurrent imports create is counted as created by one of them only", async () => {
  const tenantId = phrases.newTenant();
  const answers = await Promise.all(Array.from({ length: 4 }, () => phrases.import(tenantId, many(500))));
  const sum = (of: "created" | "changed" | "unchanged") => answers.reduce((total, answer) => total + answer[of], 0);
  expect([sum("created"), sum("changed"), sum("unchanged")]).toEqual([500, 0, 1_500]);
});

/** The outcomes of planned drafts that another process's import of `rows` overtakes. */
async function outcomesOvertaken(tenantId: string, drafts: readonly PhraseDraft[], rows: readonly object[]) {
  await using client = await new MongoClient(inject("mongoUrl")).connect();
  const store = new PhraseStore(client.db(phrases.database));
  let isOvertaken = false;
  const find = async (of: string, wanted: Wanted) => {
    const found = await store.find(of, wanted);
    if (!isOvertaken) await phrases.import(tenantId, rows);
    isOvertaken = true;
    return found;
  };
  const stamps = { now: new Date(Date.now() - 1_000), mintId: uuidv7 };
  const upsert = (write: Write) => upsertWithRetry({ find }, tenantId, drafts, stamps, write);
  return (await store.change(tenantId, upsert)).outcomes;
}

function draft(phrase: string, id = uuidv7()): PhraseDraft {
  return { id, language: "sv", phrase, caseSensitive: false, forbidden: false, commonMistakes: [], description: "" };
}

test("a phrase that a concurrent import has created under the same id is counted as unchanged", async () => {
  const drafts = ["a", "b", "c"].map((phrase) => draft(phrase));
  const outcomes = await outcomesOvertaken(phrases.newTenant(), drafts, drafts.slice(1));
  expect(outcomes).toEqual(["created", "unchanged", "unchanged"]);
});

test("a phrase that a concurrent import has renamed to the same text is counted as unchanged", async () => {
  const tenantId = phrases.newTenant();
  const { phraseIds } = await phrases.import(tenantId, [sv("a"), sv("b"), sv("c")], { withIds: true });
  const drafts = phraseIds.map((id, n) => draft(`ny ${n}`, id));
  expect(await outcomesOvertaken(tenantId, drafts, drafts.slice(1, 2))).toEqual(["changed", "unchanged", "changed"]);
});

test("an import answers the ids of its phrases when it is asked for them, in a dry run too", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [sv("a"), sv("b"), sv("c")]);
  const ids = Object.fromEntries((await phrases.page({ tenantId })).phrases.map(({ phrase, id }) => [phrase, id]));
  for (const dryRun of [true, false]) {
    const { phraseIds } = await phrases.import(tenantId, [sv("c"), sv("a")], { dryRun, withIds: true });
    expect(phraseIds).toHaveLength(2);
    expect(new Set(phraseIds)).toEqual(new Set([ids["a"], ids["c"]]));
  }
});

test("an import of one language refuses rows of another, and writes nothing", async () => {
  const tenantId = phrases.newTenant();
  const rows = [sv("a"), { language: "SV", phrase: "b" }, { language: "sv-SE", phrase: "c" }];
  const refusal = phrases.import(tenantId, rows, { language: "sv" });
  await expect(refusal).rejects.toThrow(/1 of 3 rows is invalid; index 2: language must be sv/);
  expect((await phrases.page({ tenantId })).phrases).toEqual([]);
  expect(await phrases.import(tenantId, rows.slice(0, 2), { language: "Sv" })).toMatchObject({ created: 2 });
});

test("BatchDeletePhrases deletes the tenant's own phrases with the given ids, and skips all other ids", async () => {
  const tenantId = phrases.newTenant();
  const other = phrases.newTenant();
  const idsOf = async (of: string) => (await phrases.import(of, many(2_500), { withIds: true })).phraseIds;
  const [own, foreign] = [await idsOf(tenantId), await idsOf(other)];
  const phraseIds = [...own.slice(1), ...foreign, crypto.randomUUID()].map((id) => id.toUpperCase());
  expect(await phrases.client.batchDeletePhrases({ tenantId, phraseIds })).toMatchObject({ deleted: 2_499 });
  expect((await phrases.page({ tenantId })).phrases).toMatchObject([{ id: own[0] }]);
  expect(await phrases.client.deleteLanguage({ tenantId: other, language: "sv", dryRun: true })).toMatchObject({
    deleted: 2_500,
  });
});

test("BatchDeletePhrases gives the dictionary a new revision", async () => {
  const tenantId = phrases.newTenant();
  const { phraseIds } = await phrases.import(tenantId, [sv("a"), sv("b")], { withIds: true });
  const revision = async () => (await phrases.client.getDictionaryRevision({ tenantId })).revision;
  const before = await revision();
  await phrases.client.batchDeletePhrases({ tenantId, phraseIds });
  const after = await revision();
  expect(["", before]).not.toContain(after);
});

test.each<[string, (id: string) => string[]]>([
  ["an id that is no UUID", (id) => [id, "x"]],
  ["more than 10,000 ids", (id) => Array.from({ length: 10_001 }, () => id)],
])("BatchDeletePhrases with %s is INVALID_ARGUMENT and deletes nothing", async (_, idsWith) => {
  const tenantId = phrases.newTenant();
  const { phraseIds: own } = await phrases.import(tenantId, [sv("a")], { withIds: true });
  const phraseIds = idsWith(own[0]!);
  await expect(phrases.client.batchDeletePhrases({ tenantId, phraseIds })).rejects.toThrow(/invalid_argument/);
  expect((await phrases.page({ tenantId })).phrases).toHaveLength(1);
});

test("deleting a language deletes exactly its own phrases", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [...many(1_500), { language: "sv-SE", phrase: "bleibt" }]);
  const remove = () => phrases.client.deleteLanguage({ tenantId, language: "SV" });
  expect(await remove()).toMatchObject({ deleted: 1_500, hasMore: false });
  expect(await remove()).toMatchObject({ deleted: 0, hasMore: false });
  expect((await phrases.page({ tenantId })).phrases).toMatchObject([{ phrase: "bleibt" }]);
});

test("a dry run of deleting a language counts its phrases without deleting them", async () => {
  const tenantId = phrases.newTenant();
  await phrases.import(tenantId, [...many(1_500), { language: "sv-SE", phrase: "bleibt" }]);
  const dryRun = phrases.client.deleteLanguage({ tenantId, language: "SV", dryRun: true });
  expect(await dryRun).toMatchObject({ deleted: 1_500, hasMore: false });
  expect((await phrases.pages({ tenantId })).phrases).toHaveLength(1_501);
});

test("deleting a language is refused when the request names no language", async () => {
  await expect(phrases.client.deleteLanguage({ tenantId: phrases.newTenant() })).rejects.toThrow(
    /language is required/,
  );
});
