import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type DocumentProcess, runDocumentProcess } from "./support/document-process.ts";
import { article, as } from "./support/publishing.ts";

const type = "core/article";
const database = testDatabaseName("order");
let twins: [DocumentProcess, DocumentProcess];
let mongo: MongoClient;

beforeAll(async () => {
  const options = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl"), database };
  twins = [await runDocumentProcess(options), await runDocumentProcess(options)];
  mongo = await new MongoClient(inject("mongoUrl")).connect();
});
afterAll(async () => {
  await Promise.all(twins.map((twin) => twin[Symbol.asyncDispose]()));
  await mongo.db(database).dropDatabase();
  await mongo.close();
});

interface Item {
  id: string;
  updated_at: string;
}

interface Change extends Item {
  change: "upsert" | "withdraw";
  sequence: number;
}

async function create(tenantId: string, count: number, ofType = type): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (let at = 0; at < count; at += 64) {
    const items = ids.slice(at, at + 64).map((id) => {
      return { tenantId, draft: { documentJson: Buffer.from(JSON.stringify({ ...article({ id }), type: ofType })) } };
    });
    await twins[0].documents.batchCreateDocuments({ items });
  }
  return ids;
}

async function transition(tenantId: string, ids: readonly string[], name: string, twin = twins[0]): Promise<void> {
  const transitions = ids.map((documentId) => ({ documentId, name, expectedVersion: 1n }));
  const { results } = await twin.documents.batchTransitionDocuments({ tenantId, transitions }, as("admin"));
  const refused = results.find(({ outcome }) => outcome.case !== "transitioned");
  expect(refused).toBeUndefined();
}

async function walk(tenantId: string, limit: number, since?: Date): Promise<Item[]> {
  const items: Item[] = [];
  const updatedSince = since ? { updatedSince: timestampFromDate(since) } : {};
  for (let cursor = "", at = 0; ; at += 1) {
    const reader = twins[at % 2]!.published;
    const page = await reader.listPublishedDocuments({ tenantId, type, limit, cursor, ...updatedSince });
    items.push(...JSON.parse(Buffer.from(page.itemsJson).toString()));
    if (!page.hasMore) return items;
    cursor = page.nextCursor;
  }
}

/** From id to `updated_at`, for the published documents of `types`, straight from the database. */
async function publishedNow(tenantId: string, ...types: string[]): Promise<Map<string, string>> {
  const filter = { tenantId, document: { $exists: true }, type: { $in: types } };
  const rows = await mongo.db(database).collection("publications").find(filter).toArray();
  return new Map(rows.map(({ documentId, updatedAt }) => [documentId, updatedAt.toISOString()]));
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

describe("among 5,000 publications", () => {
  const tenantId = "walks";
  let touched: string[];
  let untouched: Map<string, string>;
  const stop = new AbortController();
  let writers: Promise<void>[];

  beforeAll(async () => {
    const ids = await create(tenantId, 5_000);
    for (let rest = ids; rest.length > 0;) {
      const size = Math.random() < 0.3 ? 1 : 1 + Math.floor(Math.random() * 64);
      await transition(tenantId, rest.slice(0, size), "publish");
      rest = rest.slice(size);
    }
    touched = shuffled(ids).slice(0, 400);
    untouched = await publishedNow(tenantId, type);
    for (const id of touched) untouched.delete(id);
    writers = twins.map((twin, at) => write(twin, touched.slice(at * 200, at * 200 + 200)));
  }, 120_000);

  afterAll(async () => {
    stop.abort();
    await Promise.all(writers);
  });

  /** Withdraws documents and publishes them again until told to stop. */
  async function write(twin: DocumentProcess, own: readonly string[]): Promise<void> {
    while (!stop.signal.aborted) {
      const some = shuffled(own).slice(0, 1 + Math.floor(Math.random() * 20));
      for (const name of ["withhold", "publish"]) await transition(tenantId, some, name, twin);
    }
  }

  test("at least 30 % of those that no writer touches share their updated_at, as the next tests need", () => {
    const count = new Map<string, number>();
    for (const stamp of untouched.values()) count.set(stamp, (count.get(stamp) ?? 0) + 1);
    const sharing = [...untouched.values()].filter((stamp) => (count.get(stamp) ?? 0) > 1).length;
    expect(untouched.size).toBe(4_600);
    expect(sharing / untouched.size).toBeGreaterThanOrEqual(0.3);
  });

  function expectWhole(items: readonly Item[], since = ""): void {
    const keys = items.map(({ updated_at, id }) => `${updated_at} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(items.every(({ updated_at }) => updated_at >= since)).toBe(true);
    const seen = new Map(items.map(({ id, updated_at }) => [id, updated_at]));
    const skipped = [...untouched].filter(([id, stamp]) => stamp >= since && seen.get(id) !== stamp);
    expect(skipped).toEqual([]);
  }

  test.each([7, 200])(
    "a walk in pages of %i shows exactly once each document that no writer touches",
    async (limit) => expectWhole(await walk(tenantId, limit)),
    120_000,
  );

  test("a walk in pages of 1 back to the 300th newest untouched document shows each untouched one once", async () => {
    const since = [...untouched.values()].toSorted().at(-300)!;
    expectWhole(await walk(tenantId, 1, new Date(since)), since);
  }, 120_000);

  test("a walk with updatedSince shows each untouched document of that time or later once, and none older", async () => {
    const stamps = [...new Set(untouched.values())].toSorted();
    for (const stamp of shuffled(stamps).slice(0, 12)) {
      const at = Date.parse(stamp);
      expectWhole(await walk(tenantId, 200, new Date(at)), stamp);
      const between = new Date(at + 1);
      expectWhole(await walk(tenantId, 200, between), between.toISOString());
    }
  }, 120_000);
});

describe("beside 17 concurrent publishers of one tenant on two processes", () => {
  const tenantId = "crowd";
  const each = 40;
  const quietType = "core/tag";
  let publishing: Promise<void>;
  let done = false;

  /**
   * Publishes each document. Of four documents it then withdraws one, withdraws another one and
   * publishes it again, and kills one.
   */
  async function publisher(ids: readonly string[], twin: DocumentProcess): Promise<void> {
    for (const [at, id] of ids.entries()) {
      const names = [["publish"], ["publish", "withhold"], ["publish", "withhold", "publish"], ["publish", "kill"]];
      for (const name of names[at % 4]!) await transition(tenantId, [id], name, twin);
    }
  }

  beforeAll(async () => {
    const ids = await create(tenantId, 16 * each);
    const begin = async () => {
      const all = Array.from({ length: 16 }, (_, at) =>
        publisher(ids.slice(at * each, at * each + each), twins[at % 2]!),
      );
      const quiet = publisher(await create(tenantId, 8, quietType), twins[0]);
      await Promise.all([...all, quiet]);
      done = true;
    };
    publishing = begin();
  });

  test("readers who catch up by updatedSince or follow the feed miss nothing", async () => {
    const followers = [follow(""), follow(type), follow(quietType), follow(quietType, 30), follow("core/image")];
    const [caughtUp, mirrors] = await Promise.all([catchUp(), Promise.all(followers), publishing]);
    const published = await publishedNow(tenantId, type);
    const quiet = await publishedNow(tenantId, quietType);
    expect([published.size, quiet.size]).toEqual([(16 * each) / 2, 4]);
    expect(new Map([...caughtUp].filter(([id]) => published.has(id)))).toEqual(published);
    expect(mirrors).toEqual([new Map([...published, ...quiet]), published, quiet, quiet, new Map()]);
  }, 120_000);

  /**
   * Catches up by `updatedSince`: keeps the first stamp of a walk, and begins the next walk at this
   * stamp.
   */
  async function catchUp(): Promise<Map<string, string>> {
    const seen = new Map<string, string>();
    let since: Date | undefined;
    for (let last = false; !last;) {
      last = done;
      const items = await walk(tenantId, 7, since);
      for (const { id, updated_at } of items) {
        if ((seen.get(id) ?? "") < updated_at) seen.set(id, updated_at);
      }
      const [first] = items;
      if (first) since = new Date(first.updated_at);
    }
    return seen;
  }

  /**
   * Keeps a copy of what is published of a type (of every type for "") by the feed alone. Checks
   * that positions and sequences only grow.
   */
  async function follow(ofType: string, waitMs = 0): Promise<Map<string, string>> {
    const copy = new Map<string, string>();
    const sequences = new Map<string, number>();
    let since = "";
    let position = "";
    for (let last = false; !last;) {
      last = done;
      for (let hasMore = true; hasMore;) {
        const answer = await twins[1].published.listPublishedChanges({
          tenantId,
          since,
          type: ofType,
          limit: 5,
          waitMs,
        });
        for (const item of JSON.parse(Buffer.from(answer.itemsJson).toString()) as Change[]) {
          const { id, change, sequence, updated_at } = item;
          expect(`${updated_at} ${id}` > position).toBe(true);
          expect(sequence).toBeGreaterThan(sequences.get(id) ?? 0);
          position = `${updated_at} ${id}`;
          sequences.set(id, sequence);
          if (change === "upsert") copy.set(id, updated_at);
          else copy.delete(id);
        }
        ({ since, hasMore } = answer);
      }
    }
    return copy;
  }
});
