import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./publishing.ts";

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function publish(tenantId = "acme") {
  const documentId = await service.create(tenantId, article());
  await service.take(tenantId, documentId, "publish");
  return { tenantId, documentId, sequence: 1n };
}

/** A signature whose statement was made on a day of January. */
function signatureOf(keyId: string, day: number) {
  const at = `2026-01-${String(day).padStart(2, "0")}T00:00:00.000Z`;
  const statement = ["vidimus-snapshot-v1", "t", "d", 1, 1, "usable", at, keyId, "00"].join("\n");
  return { keyId, statement, value: new Uint8Array(64).fill(day) };
}

describe("SettleSnapshots", () => {
  const settleWith = (reference: object, keyId: string, day: number) =>
    service.feed.settleSnapshots({
      settlements: [{ reference, outcome: { case: "signature", value: signatureOf(keyId, day) } }],
    });
  const read = async (reference: object) =>
    (await service.feed.getSnapshots({ references: [reference] })).snapshots[0]!;

  test("keeps the signature and ends the pending state, once or twice", async () => {
    const reference = await publish();
    expect((await read(reference)).pending).toBe(true);
    for (let times = 0; times < 2; times++) {
      await settleWith(reference, "a", 1);
      expect(await read(reference)).toMatchObject({ pending: false, signature: signatureOf("a", 1) });
    }
  });

  test("replaces a signature by a later one of another key, and by no other, in whatever order they come", async () => {
    const reference = await publish();
    await settleWith(reference, "a", 5);
    for (const [keyId, day, expected] of [
      ["a", 9, signatureOf("a", 5)],
      ["b", 4, signatureOf("a", 5)],
      ["b", 7, signatureOf("b", 7)],
      ["a", 5, signatureOf("b", 7)],
    ] as const) {
      await settleWith(reference, keyId, day);
      expect((await read(reference)).signature).toMatchObject(expected);
    }
  });

  test("keeps the reason of what can never be sent, unless it was settled before", async () => {
    const [unsendable, signed] = [await publish(), await publish()];
    await settleWith(signed, "a", 1);
    const outcome = { case: "unsendable", value: "signed with another digest" } as const;
    const settlements = [unsendable, signed].map((reference) => ({ reference, outcome }));
    await service.feed.settleSnapshots({ settlements });
    const row = ({ documentId }: { documentId: string }) => service.db.collection("snapshots").findOne({ documentId });
    expect(await row(unsendable)).toMatchObject({ unsendable: "signed with another digest" });
    expect((await read(unsendable)).pending).toBe(false);
    expect(await row(signed)).not.toHaveProperty("unsendable");
    await settleWith(unsendable, "a", 1);
    expect(await row(unsendable)).not.toHaveProperty("unsendable");
  });

  test("settles the others when one does not exist, and says NOT_FOUND", async () => {
    const reference = await publish();
    const outcome = { case: "signature", value: signatureOf("a", 1) } as const;
    const unknown = { ...reference, documentId: randomUUID() };
    const settlements = [unknown, reference].map((each) => ({ reference: each, outcome }));
    const settled = service.feed.settleSnapshots({ settlements });
    await expect(settled).rejects.toThrow("1 of these snapshots do not exist");
    expect((await read(reference)).pending).toBe(false);
  });

  test.each([
    ["nothing", { case: undefined }],
    ["an empty reason", { case: "unsendable", value: "" }],
    ["a reason of 257 characters", { case: "unsendable", value: "x".repeat(257) }],
    ["half a signature", { case: "signature", value: { ...signatureOf("a", 1), value: new Uint8Array(63) } }],
  ] as const)("refuses %s for an outcome", async (_, outcome) => {
    const settled = service.feed.settleSnapshots({ settlements: [{ reference: await publish(), outcome }] });
    await expect(settled).rejects.toThrow(/a settlement has|64 bytes/);
  });
});

describe("ListSnapshots", () => {
  const tenant = "listed";
  let own: { documentId: string; sequence: number; at: Date; type: string }[];
  const keyOf = (each: { documentId: string; sequence: number }) => `${each.documentId} ${each.sequence}`;

  async function list(query: object = {}, limit = 0): Promise<string[]> {
    const keys: string[] = [];
    for (let pageToken = ""; ;) {
      const page = await service.feed.listSnapshots({ tenantId: tenant, limit, pageToken, ...query });
      keys.push(...page.snapshots.map(({ reference }) => `${reference!.documentId} ${reference!.sequence}`));
      if (page.nextPageToken === "") return keys;
      pageToken = page.nextPageToken;
    }
  }

  beforeAll(async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => service.create(tenant, article())));
    const tag = { ...article(), type: "core/tag", content: { name: "Snow" } };
    ids.push(await service.create(tenant, tag));
    const transitions = (name: string) => ids.map((documentId) => ({ documentId, name, expectedVersion: 1n }));
    // One transaction: these share their commit time.
    await service.documents.batchTransitionDocuments(
      { tenantId: tenant, transitions: transitions("publish") },
      as("admin"),
    );
    for (const documentId of ids.slice(0, 3)) await service.take(tenant, documentId, "withhold");
    await service.take(tenant, ids[0]!, "publish");
    const rows = await service.db
      .collection("snapshots")
      .find({ tenantId: tenant })
      .sort({ committedAt: 1, documentId: 1, sequence: 1 })
      .toArray();
    own = rows.map((row) => ({
      documentId: row["documentId"],
      sequence: row["sequence"],
      at: row["committedAt"],
      type: row["type"],
    }));
    const reference = { tenantId: tenant, documentId: own[0]!.documentId, sequence: 1n };
    await service.feed.settleSnapshots({
      settlements: [{ reference, outcome: { case: "signature", value: signatureOf("a", 1) } }],
    });
    await publish("neighbour");
  });

  test("lists a tenant's, pending or not, in the order of commits and once each, whatever the page", async () => {
    expect(own).toHaveLength(11);
    for (const limit of [0, 1, 2, 5, 11]) expect(await list({}, limit)).toEqual(own.map(keyOf));
    expect(await list({ tenantId: "nobody" })).toEqual([]);
  });

  test("lists from a time on and before another one, and by type", async () => {
    const [since, until] = [own[7]!.at, own[9]!.at];
    expect(await list({ committedSince: timestampFromDate(since) }, 2)).toEqual(own.slice(7).map(keyOf));
    expect(await list({ committedUntil: timestampFromDate(until) }, 2)).toEqual(own.slice(0, 9).map(keyOf));
    const tags = own.filter(({ type }) => type === "core/tag");
    expect(await list({ documentTypes: ["core/tag", "core/image"] })).toEqual(tags.map(keyOf));
  });

  test("lists only each document's newest, on request", async () => {
    const newest = own.filter(
      (each) => !own.some((o) => o.documentId === each.documentId && o.sequence > each.sequence),
    );
    expect(newest).toHaveLength(7);
    for (const limit of [0, 1, 3]) expect(await list({ latestOnly: true }, limit)).toEqual(newest.map(keyOf));
    const late = newest.filter(({ at }) => at >= own[8]!.at);
    const query = { latestOnly: true, committedSince: timestampFromDate(own[8]!.at) };
    expect(await list(query)).toEqual(late.map(keyOf));
    expect(await list({ latestOnly: true, documentTypes: ["core/tag"] })).toHaveLength(1);
  });

  test("says when each was committed", async () => {
    const { snapshots } = await service.feed.listSnapshots({ tenantId: tenant, limit: 1 });
    expect(snapshots[0]?.committedAt).toEqual(timestampFromDate(own[0]!.at));
  });

  test("reads no rows, only its index", async () => {
    const explained = await service.db
      .collection("snapshots")
      .find({ tenantId: tenant, committedAt: { $gte: new Date(0) } })
      .sort({ committedAt: 1, documentId: 1, sequence: 1 })
      .project({ _id: 0, tenantId: 1, documentId: 1, sequence: 1, committedAt: 1 })
      .explain("executionStats");
    expect(explained["executionStats"]).toMatchObject({ totalDocsExamined: 0, nReturned: own.length });
  });

  test.each([
    ["limit", { limit: 1_001 }],
    ["page_token", { pageToken: "x" }],
    ["tenant_id", { tenantId: "$ne" }],
    ["100 types", { documentTypes: Array.from({ length: 101 }, () => "core/tag") }],
  ])("refuses a %s out of bounds", async (words, query) => {
    await expect(service.feed.listSnapshots({ tenantId: tenant, ...query })).rejects.toThrow(words);
  });
});
