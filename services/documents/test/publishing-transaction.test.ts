import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function createMany(tenantId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 64) {
    const items = Array.from({ length: Math.min(64, count - made) }, () => ({
      tenantId,
      draft: { documentJson: Buffer.from(JSON.stringify(article())) },
    }));
    const { results } = await service.documents.batchCreateDocuments({ items });
    ids.push(...results.map(({ outcome }) => (outcome.case === "created" ? outcome.value.documentId : "")));
  }
  return ids;
}

function rowsOf(tenantId: string, name: string) {
  return service.db.collection(name).find({ tenantId }).toArray();
}

describe("one batch", () => {
  test("of 64 transitions makes 63 and refuses that of an incomplete document with its reason", async () => {
    const tenantId = "batch";
    const ids = await createMany(tenantId, 63);
    ids.splice(31, 0, await service.create(tenantId, { ...article(), meta: { language: "de" } }));
    const transitions = ids.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
    expect(results.map(({ outcome }) => outcome.case)).toEqual(
      ids.map((_, at) => (at === 31 ? "error" : "transitioned")),
    );
    const refused = results[31]!.outcome;
    expect(refused.case === "error" && refused.value.kind).toBe("failed_precondition");
    expect(refused.case === "error" && refused.value.violations[0]?.pointer).toContain("/meta");
    for (const name of ["publications", "snapshots"]) {
      expect(await rowsOf(tenantId, name), name).toHaveLength(63);
    }
  });

  test("of small documents is one transaction: all have the same updated_at", async () => {
    const rows = await rowsOf("batch", "publications");
    expect(new Set(rows.map(({ updatedAt }) => updatedAt.getTime())).size).toBe(1);
  });

  test("answers each error at the position of its transition, for unknown and repeated documents too", async () => {
    const tenantId = "mixed";
    const [first = "", second = ""] = await createMany(tenantId, 2);
    const transitions = [
      { documentId: first, name: "publish", expectedVersion: 1n },
      { documentId: randomUUID(), name: "publish", expectedVersion: 1n },
      { documentId: first, name: "withhold", expectedVersion: 1n },
      { documentId: second, name: "publish", expectedVersion: 7n },
      { documentId: "nonsense", name: "publish", expectedVersion: 1n },
    ];
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
    const kinds = results.map(({ outcome }) => (outcome.case === "error" ? outcome.value.kind : outcome.case));
    expect(kinds).toEqual(["transitioned", "not_found", "invalid", "conflict", "invalid"]);
  });

  test("of more bytes than one transaction takes on is done in several, and completely", async () => {
    const tenantId = "large";
    const text = "x".repeat(900_000);
    const ids = await Promise.all(Array.from({ length: 12 }, () => service.create(tenantId, article({ text }))));
    const transitions = ids.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
    expect(results.every(({ outcome }) => outcome.case === "transitioned")).toBe(true);
    const ofTick = Map.groupBy(await rowsOf(tenantId, "publications"), ({ updatedAt }) => updatedAt.getTime());
    const sizes = Array.from(ofTick.values(), ({ length }) => length);
    // Each transition joins a transaction once a thread has checked its document; four fill one.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(12);
  });
});

test("a large document gets its turn although documents with smaller ids fill every transaction", async () => {
  const tenantId = "starved";
  const text = "x".repeat(900_000);
  const idOf = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
  const create = (digit: string) => service.create(tenantId, article({ id: idOf(digit), text }));
  const last = await create("f");
  const ids = await Promise.all("01234567".split("").map(create));
  const roundsEach = 20;
  let rounds = 0;
  const transitioned = new AbortController();
  const busy = ids.map(async (id) => {
    for (let at = 0; at < roundsEach && !transitioned.signal.aborted; at += 1, rounds += 1) {
      await service.take(tenantId, id, at % 2 === 0 ? "publish" : "withhold");
    }
  });
  await service.take(tenantId, last, "publish");
  transitioned.abort();
  // Without its turn it would wait for all rounds. A few pass while a thread checks it.
  expect(rounds).toBeLessThan((roundsEach * ids.length) / 2);
  await Promise.all(busy);
});

test("one batch may withdraw a document, publish a second with the freed slug, and republish a third", async () => {
  const tenantId = "mixed";
  const [giver, again, taker] = await Promise.all([
    service.create(tenantId, article({ slug: "storm" })),
    service.create(tenantId, article()),
    service.create(tenantId, article({ slug: "storm" })),
  ]);
  for (const id of [giver, again]) await service.take(tenantId, id, "publish");
  await service.take(tenantId, again, "withhold");
  const step = (documentId: string, name: string) => ({ documentId, name, expectedVersion: 1n });
  const transitions = [step(giver, "withhold"), step(again, "publish"), step(taker, "publish")];
  const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("admin"));
  const sequences = results.map(({ outcome }) =>
    outcome.case === "transitioned" ? outcome.value.sequence : outcome.value,
  );
  expect(sequences).toEqual([2n, 3n, 1n]);
  const publications = await rowsOf(tenantId, "publications");
  const slugOf = new Map(publications.map(({ documentId, slug, sequence }) => [documentId, `${slug} ${sequence}`]));
  const held = ["undefined 2", `snow-${again} 3`, "storm 1"];
  expect([giver, again, taker].map((id) => slugOf.get(id))).toEqual(held);
});

describe("concurrent publishers", () => {
  test("of one tenant share transactions", async () => {
    const tenantId = "shared";
    const ids = await createMany(tenantId, 128);
    await Promise.all(ids.map((id) => service.take(tenantId, id, "publish")));
    const ticks = new Set((await rowsOf(tenantId, "publications")).map(({ updatedAt }) => updatedAt.getTime()));
    expect(ticks.size).toBeLessThan(64);
  });

  test("of one document get a transaction for each of its transitions", async () => {
    const tenantId = "one_by_one";
    const id = await service.create(tenantId, article());
    await service.take(tenantId, id, "publish");
    const both = await Promise.allSettled([
      service.take(tenantId, id, "withhold"),
      service.take(tenantId, id, "publish"),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const rows = await service.db
      .collection("snapshots")
      .find({ tenantId, documentId: id })
      .sort({ sequence: 1 })
      .toArray();
    expect(rows.map(({ status }) => status)).toEqual(["usable", "withheld", "usable"]);
    expect(new Set(rows.map(({ committedAt }) => committedAt.getTime())).size).toBe(3);
  });
});

describe("concurrent publishers on two processes", () => {
  const tenantId = "twins";
  let ids: string[];
  let commits: number[];

  beforeAll(async () => {
    await using other = await runPublishing({
      mongoUrl: inject("mongoUrl"),
      natsUrl: inject("natsUrl"),
      database: service.database,
    });
    ids = await createMany(tenantId, 160);
    const stop = new AbortController();
    const watched = await watchCommits(stop.signal);
    const publishers = Array.from({ length: 16 }, async (_, at) => {
      const process = at % 2 === 0 ? service : other;
      for (const id of ids.slice(at * 10, at * 10 + 10)) {
        for (const name of ["publish", "withhold", "publish"]) await process.take(tenantId, id, name);
      }
    });
    await Promise.all(publishers);
    stop.abort();
    commits = await watched.stamps;
  });

  test("lose no snapshot", async () => {
    const snapshots = await rowsOf(tenantId, "snapshots");
    expect(snapshots).toHaveLength(480);
    expect(snapshots.every(({ pending }) => pending)).toBe(true);
    expect(await rowsOf(tenantId, "publications")).toHaveLength(160);
    for (const id of ids) {
      const own = snapshots.filter(({ documentId }) => documentId === id).map(({ sequence }) => sequence);
      expect(own.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    }
  });

  test("commit in the order of updated_at", () => {
    expect(commits).toHaveLength(480);
    expect(commits).toEqual(commits.toSorted((a, b) => a - b));
  });

  /**
   * Stamps of the tenant's publications in commit order, from a change stream. Resolves once the
   * stream is open.
   */
  async function watchCommits(signal: AbortSignal): Promise<{ stamps: Promise<number[]> }> {
    const client = await new MongoClient(inject("mongoUrl")).connect();
    const pipeline = [{ $match: { "fullDocument.tenantId": tenantId } }];
    const stream = client.db(service.database).collection("publications").watch(pipeline);
    expect(await stream.tryNext()).toBeNull();
    const collect = async () => {
      const stamps: number[] = [];
      for (;;) {
        const change = await stream.tryNext();
        if (change && "fullDocument" in change) stamps.push(change.fullDocument?.["updatedAt"].getTime());
        if (!change && signal.aborted) return stamps;
      }
    };
    return { stamps: collect().finally(() => void client.close()) };
  }
});
