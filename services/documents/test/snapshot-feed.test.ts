import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { SnapshotReferenceSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { connect } from "nats";
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, type Publishing, runPublishing } from "./publishing.ts";

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

const signature = { keyId: "ed25519-abc", statement: "vidimus-snapshot-v1\n…", value: new Uint8Array(64).fill(7) };

describe("GetSnapshots", () => {
  test("answers canonical bytes with their digest, in the order asked for, without what is unknown", async () => {
    const [first, second] = [await publish(), await publish()];
    const unknown = { ...first, documentId: randomUUID() };
    const { snapshots } = await service.feed.getSnapshots({ references: [second, unknown, first, second] });
    expect(snapshots.map(({ reference }) => reference?.documentId)).toEqual([second.documentId, first.documentId]);
    const [{ snapshotJson, sha256, signature: none, ...snapshot }] = [snapshots[0]!];
    expect(snapshot).toMatchObject({ documentType: "core/article", version: 1n, status: "usable" });
    expect(none).toBeUndefined();
    expect(Buffer.from(sha256)).toEqual(createHash("sha256").update(snapshotJson).digest());
    const value = JSON.parse(Buffer.from(snapshotJson).toString());
    expect(Object.keys(value)).toEqual(["content", "id", "links", "meta", "title", "type", "updated_at"]);
  });

  test("never answers another tenant's", async () => {
    const own = await publish();
    const { snapshots } = await service.feed.getSnapshots({ references: [{ ...own, tenantId: "rival" }] });
    expect(snapshots).toEqual([]);
  });

  test("ends at 4 MiB with the first ones asked for, so that asking on from there gets them all", async () => {
    const large = await Promise.all(Array.from({ length: 7 }, () => publish("large", "x".repeat(900_000))));
    for (const descending of [true, false]) {
      let missing = large.map(({ documentId }) => documentId).toSorted();
      if (descending) missing.reverse();
      let calls = 0;
      while (missing.length > 0) {
        const references = missing.map((documentId) => ({ tenantId: "large", documentId, sequence: 1n }));
        const { snapshots } = await service.feed.getSnapshots({ references });
        expect(snapshots.length).toBeGreaterThan(0);
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

  test("walks what is open, of all tenants, oldest first and once each", async () => {
    await Promise.all(Array.from({ length: 9 }, (_, at) => publish(at % 2 === 0 ? "even" : "odd")));
    const rows = await service.db
      .collection("snapshots")
      .find({ pending: true })
      .sort({ committedAt: 1, tenantId: 1, documentId: 1, sequence: 1 })
      .toArray();
    const expected = rows.map((row) => `${row["tenantId"]} ${row["documentId"]} ${row["sequence"]}`);
    for (const limit of [1, 4, 1_000]) expect(await walk(limit)).toEqual(expected);
  });

  test("leaves out what was committed later than asked", async () => {
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

  test("refuses a token that is not one of its own", async () => {
    await expect(service.feed.listPendingSnapshots({ pageToken: "x" })).rejects.toThrow("page_token");
  });

  test("is shorter by what was acknowledged, once or twice", async () => {
    const open = await walk(1_000);
    const reference = await publish();
    expect(await walk(1_000)).toHaveLength(open.length + 1);
    for (let times = 0; times < 2; times += 1) {
      await service.feed.acknowledgeSnapshots({ references: [reference] });
      expect(await walk(1_000)).toEqual(open);
    }
  });
});

describe("AttachSignatures", () => {
  test("keeps a signature beside its snapshot, and a newer one in its place", async () => {
    const reference = await publish();
    for (const keyId of ["ed25519-abc", "ed25519-abc", "ed25519-def"]) {
      const attached = { ...signature, keyId };
      await service.feed.attachSignatures({ attachments: [{ reference, signature: attached }] });
      const { snapshots } = await service.feed.getSnapshots({ references: [reference] });
      expect(snapshots[0]?.signature).toMatchObject(attached);
    }
  });

  test("keeps many at once apart, whatever their tenants and sequences, and the last of several for one", async () => {
    const first = await publish();
    await service.take(tenantId, first.documentId, "withhold");
    const references = [first, { ...first, sequence: 2n }, await publish(), await publish("other")];
    const attachments = references.map((reference, at) => ({
      reference,
      signature: { ...signature, statement: `$${at}`, value: new Uint8Array(64).fill(at) },
    }));
    const superseded = { reference: first, signature };
    await service.feed.attachSignatures({ attachments: [superseded, ...attachments] });
    const { snapshots } = await service.feed.getSnapshots({ references });
    expect(snapshots.map((snapshot) => snapshot.signature)).toMatchObject(attachments.map((each) => each.signature));
  });

  test("says NOT_FOUND when a snapshot does not exist", async () => {
    const reference = { tenantId, documentId: randomUUID(), sequence: 1n };
    const attached = service.feed.attachSignatures({ attachments: [{ reference, signature }] });
    await expect(attached).rejects.toThrow("1 of these snapshots do not exist");
  });

  test("refuses what cannot be a signature", async () => {
    const reference = await publish();
    const short = { ...signature, value: new Uint8Array(63) };
    await expect(service.feed.attachSignatures({ attachments: [{ reference, signature: short }] })).rejects.toThrow(
      "64 bytes",
    );
  });
});

describe("the relay", () => {
  test("announces each snapshot's reference on the stream once it is committed", async () => {
    const nats = await connect({ servers: inject("natsUrl") });
    const heard = nats.subscribe("vidimus.snapshots.v1");
    const documentId = randomUUID();
    await service.create("relay", article({ id: documentId }));
    await nats.flush();
    await service.take("relay", documentId, "publish");
    for await (const { data, headers } of heard) {
      const reference = fromBinary(SnapshotReferenceSchema, data);
      if (reference.documentId !== documentId) continue;
      expect(reference).toMatchObject({ tenantId: "relay", sequence: 1n });
      expect(headers?.get("Nats-Msg-Id")).toBe(`relay.${documentId}.1`);
      break;
    }
    await nats.close();
  });

  test("a broker that is away holds up nothing", async () => {
    await using alone = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: "nats://127.0.0.1:1" });
    const id = await alone.create(tenantId, article());
    expect(await alone.take(tenantId, id, "publish")).toMatchObject({ sequence: 1n });
    const { references } = await alone.feed.listPendingSnapshots({});
    expect(references.map(({ documentId }) => documentId)).toEqual([id]);
  });
});
