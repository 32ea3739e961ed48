import { profiled } from "@vidimus/devstack/testing/profile";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { snapshotSubject, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { connect } from "nats";
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { canonicalJson } from "../src/domain/json/canonical-json.ts";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";
import { settlementOf, type SignedReference } from "./support/settling.ts";

const tenantId = "acme";
let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function publish(tenant = tenantId, text = "It snows.") {
  const documentId = await service.create(tenant, article({ text }));
  await service.take(tenant, documentId, "publish");
  return { tenantId: tenant, documentId, sequence: 1n };
}

function settle(references: readonly SignedReference[]) {
  return service.feed.settleSnapshots({ settlements: references.map((reference) => settlementOf(reference)) });
}

describe("GetSnapshots", () => {
  test("answers known snapshots once each, in the order asked for", async () => {
    const [first, second] = [await publish(), await publish()];
    const unknown = { ...first, documentId: randomUUID() };
    const { snapshots } = await service.feed.getSnapshots({ references: [second, unknown, first, second] });
    expect(snapshots.map(({ reference }) => reference?.documentId)).toEqual([second.documentId, first.documentId]);
  });

  test("answers a snapshot in canonical bytes, with their digest", async () => {
    const { snapshots } = await service.feed.getSnapshots({ references: [await publish()] });
    const [{ snapshotJson, sha256, signature: none, ...snapshot }] = [snapshots[0]!];
    expect(snapshot).toMatchObject({ documentType: "core/article", version: 1n, status: "usable" });
    expect(none).toBeUndefined();
    expect(Buffer.from(sha256)).toEqual(createHash("sha256").update(snapshotJson).digest());
    const value = JSON.parse(Buffer.from(snapshotJson).toString());
    expect(Object.keys(value)).toEqual(["content", "id", "links", "meta", "title", "type", "updated_at"]);
    expect(Buffer.from(snapshotJson).toString()).toBe(canonicalJson(value).toString());
  });

  test("does not find a snapshot under another tenant", async () => {
    const own = await publish();
    const { snapshots } = await service.feed.getSnapshots({ references: [{ ...own, tenantId: "rival" }] });
    expect(snapshots).toEqual([]);
  });

  test("reads only the rows asked for, of several sequences and tenants", async () => {
    const [often, twice] = [await publishOften("plans", 5), await publishOften("plans", 2)];
    const references = [often(5), often(2), often(1), twice(2), await publish("other_plans")];
    const reads = { "command.find": "snapshots", "command.filter.$or.0.tenantId": "plans" };
    const { result, entries } = await profiled(service.db, reads, () => service.feed.getSnapshots({ references }));
    expect(result.snapshots.map(({ reference }) => reference)).toMatchObject(references);
    const [read] = entries;
    expect(read).toMatchObject({ docsExamined: references.length });
    expect(read!["keysExamined"]).toBeLessThanOrEqual(2 * references.length + 2);
  });

  test("answers the first snapshots asked for, up to 4 MiB, so that a second call gets the rest", async () => {
    const large = await Promise.all(Array.from({ length: 7 }, () => publish("large", "x".repeat(900_000))));
    for (const descending of [true, false]) {
      let missing = large.map(({ documentId }) => documentId).toSorted();
      if (descending) missing.reverse();
      let calls = 0;
      while (missing.length > 0) {
        const references = missing.map((documentId) => ({ tenantId: "large", documentId, sequence: 1n }));
        const { snapshots } = await service.feed.getSnapshots({ references });
        expect(snapshots.length).toBeGreaterThan(0);
        const bytes = snapshots.reduce((sum, { snapshotJson }) => sum + snapshotJson.length, 0);
        expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
        expect(snapshots.map(({ reference }) => reference?.documentId)).toEqual(missing.splice(0, snapshots.length));
        calls += 1;
      }
      expect(calls).toBe(2);
    }
    const unknown = Array.from({ length: 5 }, () => ({ tenantId: "large", documentId: randomUUID(), sequence: 1n }));
    const behind = await service.feed.getSnapshots({ references: [...unknown, ...large] });
    expect(behind.snapshots.map(({ reference }) => reference?.documentId)).toContain(large[0]?.documentId);
  });
});

describe("ListPendingSnapshots", () => {
  async function walk(limit: number, query: object = {}): Promise<string[]> {
    const keys: string[] = [];
    for (let pageToken = ""; ;) {
      const { references, nextPageToken } = await service.feed.listPendingSnapshots({ limit, pageToken, ...query });
      keys.push(...references.map((at) => `${at.tenantId} ${at.documentId} ${at.sequence}`));
      if (nextPageToken === "") return keys;
      pageToken = nextPageToken;
    }
  }

  test("walks the pending snapshots of all tenants, oldest first and once each", async () => {
    await Promise.all(Array.from({ length: 9 }, (_, at) => publish(at % 2 === 0 ? "even" : "odd")));
    const rows = await service.db
      .collection("snapshots")
      .find({ pending: true })
      .sort({ committedAt: 1, tenantId: 1, documentId: 1, sequence: 1 })
      .toArray();
    const expected = rows.map((row) => `${row["tenantId"]} ${row["documentId"]} ${row["sequence"]}`);
    for (const limit of [1, 4, 1_000]) expect(await walk(limit)).toEqual(expected);
  });

  test("leaves out snapshots that were committed after the time asked for", async () => {
    const before = await walk(1_000);
    const [row] = await service.db
      .collection("snapshots")
      .find({ pending: true })
      .sort({ committedAt: -1 })
      .limit(1)
      .toArray();
    const committedBefore = timestampFromDate(row!["committedAt"]);
    await publish();
    expect(await walk(1_000, { committedBefore })).toEqual(before);
  });

  test("refuses a malformed page token", async () => {
    await expect(service.feed.listPendingSnapshots({ pageToken: "x" })).rejects.toThrow("page_token");
  });

  test("leaves out a snapshot that was settled, once or twice", async () => {
    const open = await walk(1_000);
    const reference = await publish();
    expect(await walk(1_000)).toHaveLength(open.length + 1);
    for (let times = 0; times < 2; times += 1) {
      await settle([reference]);
      expect(await walk(1_000)).toEqual(open);
    }
  });
});

/**
 * Makes a document with `count` snapshots, usable and withheld in turn. Returns a function from the
 * sequence of a snapshot to its reference.
 */
async function publishOften(tenant: string, count: number) {
  const documentId = await service.create(tenant, article());
  for (let at = 0; at < count; at++) await service.take(tenant, documentId, at % 2 === 0 ? "publish" : "withhold");
  return (sequence: number) => ({ tenantId: tenant, documentId, sequence: BigInt(sequence) });
}

async function olderOf(references: object[]): Promise<number[][]> {
  const { snapshots } = await service.feed.getSnapshots({ references });
  return snapshots.map(({ olderPending }) => olderPending.map(Number));
}

describe("older pending snapshots", () => {
  test("of the same document are listed with a pending snapshot, and not with a settled one", async () => {
    const [first, second] = [await publishOften("older", 5), await publishOften("older", 2)];
    expect(await olderOf([first(5), first(3), first(1), second(2)])).toEqual([[1, 2, 3, 4], [1, 2], [], [1]]);
    await settle([first(2), first(5)]);
    expect(await olderOf([first(5), first(4)])).toEqual([[], [1, 3]]);
  });
});

describe("of 300 older pending snapshots", () => {
  let reading: Awaited<ReturnType<typeof read>>;

  /**
   * Reads the snapshot that has them and 500 settled ones below it, beside those of 500 documents.
   */
  async function read() {
    const snapshots = service.db.collection("snapshots");
    const last = await publishOften("deep", 1);
    const { documentId } = last(1);
    const row = await snapshots.findOne({ tenantId: "deep", documentId }, { projection: { _id: 0 } });
    const { pending: _, ...settled } = row!;
    const settledRows = Array.from({ length: 500 }, (__, at) => ({ ...settled, sequence: at + 2 }));
    const pendingRows = Array.from({ length: 300 }, (__, at) => ({ ...row, sequence: at + 502 }));
    const others = Array.from({ length: 500 }, () => ({ ...row, documentId: randomUUID() }));
    await snapshots.insertMany([...settledRows, ...pendingRows, ...others]);
    const reads = { "command.aggregate": "snapshots" };
    const profile = await profiled(service.db, reads, () => olderOf([last(801)]));
    await snapshots.deleteMany({ tenantId: "deep" });
    return profile;
  }

  beforeAll(async () => void (reading = await read()));

  test("the lowest 256 are listed", () => {
    expect(reading.result).toEqual([[1, ...Array.from({ length: 255 }, (__, at) => at + 502)]]);
  });

  test("the listed ones are found without reading settled snapshots or those of other documents", () => {
    expect(reading.entries[0]!["docsExamined"]).toBe(0);
    expect(reading.entries[0]!["keysExamined"]).toBeLessThan(310);
  });
});

describe("announcements", () => {
  test("name all snapshots of a transaction in one message on the tenant's subject", async () => {
    const nats = await connect({ servers: inject("natsUrl") });
    const heard = nats.subscribe(snapshotSubjects);
    const ids = await Promise.all(Array.from({ length: 3 }, () => service.create("relay", article())));
    const unchanged = await service.create("relay", article());
    await nats.flush();
    const transitions = [...ids, unchanged].map((documentId) => {
      return { documentId, name: documentId === unchanged ? "submit" : "publish", expectedVersion: 1n };
    });
    await service.documents.batchTransitionDocuments({ tenantId: "relay", transitions }, as("admin"));
    for await (const { data, subject } of heard) {
      const { references } = fromBinary(SnapshotReferencesSchema, data);
      if (references[0]?.tenantId !== "relay") continue;
      expect(subject).toBe(snapshotSubject("relay"));
      expect(references.map(({ documentId }) => documentId).toSorted()).toEqual(ids.toSorted());
      for (const each of references)
        expect(each).toMatchObject({ tenantId: "relay", sequence: 1n, type: "core/article" });
      break;
    }
    await nats.close();
  });

  test("that cannot be sent, because the broker is down, keep no document from publication", async () => {
    await using alone = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: "nats://127.0.0.1:1" });
    const id = await alone.create(tenantId, article());
    expect(await alone.take(tenantId, id, "publish")).toMatchObject({ sequence: 1n });
    const { references } = await alone.feed.listPendingSnapshots({});
    expect(references.map(({ documentId }) => documentId)).toEqual([id]);
  });
});
