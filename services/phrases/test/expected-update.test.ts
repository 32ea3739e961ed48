/** `expected_updated_at` and `create_only` of UpsertPhrase. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPhrases, type PhraseJson } from "./support/open-phrases.ts";

interface Stored extends PhraseJson {
  updatedAt: string;
}

let phrases: Awaited<ReturnType<typeof openPhrases>>;

beforeAll(async () => {
  phrases = await openPhrases();
});

afterAll(async () => {
  await phrases?.[Symbol.asyncDispose]();
});

async function put(tenantId: string, phrase: object, expectedUpdatedAt = "", createOnly = false): Promise<Stored> {
  const phraseJson = Buffer.from(JSON.stringify(phrase));
  const answer = await phrases.client.upsertPhrase({ tenantId, phraseJson, expectedUpdatedAt, createOnly });
  return JSON.parse(Buffer.from(answer.phraseJson).toString()) as Stored;
}

test("of two updates that expect the same updatedAt the first is written and the second is ABORTED", async () => {
  const tenantId = phrases.newTenant();
  const read = await put(tenantId, { language: "sv", phrase: "kött" });
  const { id } = read;
  const first = await put(tenantId, { id, language: "sv", phrase: "kött", description: "first" }, read.updatedAt);
  const second = put(tenantId, { id, language: "sv", phrase: "kött", description: "second" }, read.updatedAt);
  await expect(second).rejects.toThrow(/aborted.*changed or deleted since/);
  expect((await phrases.page({ tenantId })).phrases).toEqual([first]);
});

test("an update of a phrase that was deleted since it was read is ABORTED and creates no phrase", async () => {
  const tenantId = phrases.newTenant();
  const { id, updatedAt } = await put(tenantId, { language: "sv", phrase: "kött" });
  await phrases.client.deletePhrase({ tenantId, phraseId: id });
  await expect(put(tenantId, { id, language: "sv", phrase: "fisk" }, updatedAt)).rejects.toThrow(/aborted/);
  expect((await phrases.page({ tenantId })).phrases).toEqual([]);
});

test("an update without a change keeps updatedAt", async () => {
  const tenantId = phrases.newTenant();
  const read = await put(tenantId, { language: "sv", phrase: "kött" });
  expect(await put(tenantId, read, read.updatedAt)).toEqual(read);
});

test("an update to another phrase's text is ALREADY_EXISTS", async () => {
  const tenantId = phrases.newTenant();
  await put(tenantId, { language: "sv", phrase: "fisk" });
  const read = await put(tenantId, { language: "sv", phrase: "kött" });
  await expect(put(tenantId, { ...read, phrase: "fisk" }, read.updatedAt)).rejects.toThrow(/already_exists/);
});

test("of twenty concurrent updates that expect the same updatedAt exactly one is written", async () => {
  const tenantId = phrases.newTenant();
  const read = await put(tenantId, { language: "sv", phrase: "kött" });
  const updates = Array.from({ length: 20 }, (_, n) =>
    put(tenantId, { ...read, description: `n${n}` }, read.updatedAt),
  );
  const settled = await Promise.allSettled(updates);
  const written = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(written).toHaveLength(1);
  expect((await phrases.page({ tenantId })).phrases).toEqual(written);
});

test.for([
  ["that is no time", { id: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77" }, "yesterday"],
  ["without milliseconds", { id: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77" }, "2026-11-25T10:00:00Z"],
  ["beside a phrase without an id", {}, "2026-11-25T10:00:00.000Z"],
] as const)("expected_updated_at %s is INVALID_ARGUMENT", async ([, id, time]) => {
  await expect(put("demo", { ...id, language: "sv", phrase: "kött" }, time)).rejects.toThrow(/invalid_argument/);
});

const create = (tenantId: string, id: string, phrase: string, description = "") =>
  put(tenantId, { id, language: "sv", phrase, description }, "", true);

test("create_only is ALREADY_EXISTS and changes nothing when another phrase has the text", async () => {
  const tenantId = phrases.newTenant();
  const standing = await create(tenantId, crypto.randomUUID(), "kött", "a note");
  await expect(create(tenantId, crypto.randomUUID(), "kött")).rejects.toThrow(/already_exists/);
  expect((await phrases.page({ tenantId })).phrases).toEqual([standing]);
});

test("create_only that is repeated with the same id answers the phrase that it created", async () => {
  const tenantId = phrases.newTenant();
  const standing = await create(tenantId, crypto.randomUUID(), "kött", "a note");
  expect(await create(tenantId, standing.id, "kött", "a note")).toEqual(standing);
  expect((await phrases.page({ tenantId })).phrases).toEqual([standing]);
});

test("of twenty concurrent create_only calls with one text exactly one creates a phrase", async () => {
  const tenantId = phrases.newTenant();
  const creations = Array.from({ length: 20 }, (_, n) => create(tenantId, crypto.randomUUID(), "kött", `n${n}`));
  const settled = await Promise.allSettled(creations);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await phrases.page({ tenantId })).phrases).toHaveLength(1);
});

test("create_only without an id is INVALID_ARGUMENT", async () => {
  await expect(put("demo", { language: "sv", phrase: "kött" }, "", true)).rejects.toThrow(/invalid_argument/);
});

test("create_only together with expected_updated_at is INVALID_ARGUMENT", async () => {
  const read = { language: "sv", phrase: "kött", id: crypto.randomUUID() };
  await expect(put("demo", read, "2026-11-25T10:00:00.000Z", true)).rejects.toThrow(/invalid_argument/);
});
