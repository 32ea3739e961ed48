import { openProfile } from "@vidimus/devstack/testing/profile";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

const followers = 256;
let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

const tag = () => ({ ...article(), type: "core/tag", content: { name: "Snow" } });

async function publish(tenantId: string, document: { id: string }): Promise<string> {
  await service.create(tenantId, document);
  await service.take(tenantId, document.id, "publish");
  return document.id;
}

/** Asks for the changes of type core/tag since a token, and waits for them for `waitMs`. */
async function follow(tenantId: string, since: string, waitMs = 20_000) {
  const query = { tenantId, since, type: "core/tag", limit: 50, waitMs };
  const answer = await service.published.listPublishedChanges(query, { timeoutMs: 30_000 });
  const items: { id: string }[] = JSON.parse(Buffer.from(answer.itemsJson).toString());
  return { since: answer.since, ids: items.map(({ id }) => id) };
}

type Profile = Awaited<ReturnType<typeof openProfile>>;

/** The reads of a collection that MongoDB has served since the profile was opened. */
const readsOf = (profile: Profile, collection: string) =>
  profile.find({ op: "query", ns: `${service.database}.${collection}` });

async function countReads(profile: Profile): Promise<{ clocks: number; publications: number }> {
  const [clocks, publications] = [await readsOf(profile, "clocks"), await readsOf(profile, "publications")];
  return { clocks: clocks.length, publications: publications.length };
}

test("256 followers of a quiet type share one read of the clock a second, and read no publications", async () => {
  const tenantId = "steady";
  const { since } = await follow(tenantId, "", 0);
  const busy = await service.create(tenantId, article());
  const waiting = Array.from({ length: followers }, () => follow(tenantId, since));
  // The waiting calls were sent first on the same connection, so they have arrived once this call
  // is answered.
  await service.list(tenantId);
  await using profile = await openProfile(service.db);
  const from = performance.now();
  for (let at = 0; at < 150; at += 1) await service.take(tenantId, busy, at % 2 === 0 ? "publish" : "withhold");
  const seconds = (performance.now() - from) / 1_000;
  const { clocks, publications } = await countReads(profile);
  expect(publications).toBe(0);
  expect(clocks).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  const id = await publish(tenantId, tag());
  expect((await Promise.all(waiting)).map(({ ids }) => ids)).toEqual(waiting.map(() => [id]));
});

test("the token of an empty answer skips changes of other types, but not the next of the asked type", async () => {
  const tenantId = "advance";
  const first = await publish(tenantId, tag());
  const begun = await follow(tenantId, "", 0);
  expect(begun.ids).toEqual([first]);
  for (let at = 0; at < 20; at += 1) await publish(tenantId, article());
  const empty = await follow(tenantId, begun.since, 0);
  expect(empty.ids).toEqual([]);
  expect(empty.since).not.toBe(begun.since);
  await using profile = await openProfile(service.db);
  expect(await follow(tenantId, empty.since, 0)).toEqual(empty);
  expect(await countReads(profile)).toEqual({ clocks: 1, publications: 0 });
  const second = await publish(tenantId, tag());
  expect((await follow(tenantId, empty.since, 0)).ids).toEqual([second]);
  const [row] = await readsOf(profile, "publications");
  // Examined are the keys around the position and the new tag, not those of the twenty articles.
  expect(row?.["keysExamined"]).toBeLessThanOrEqual(4);
});
