import { profiled } from "@vidimus/devstack/testing/profile";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";
import { settlementOf, signatureOf } from "./support/settling.ts";

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

describe("SettleSnapshots", () => {
  const settle = (...settlements: ReturnType<typeof settlementOf>[]) => service.feed.settleSnapshots({ settlements });
  const read = async (reference: object) =>
    (await service.feed.getSnapshots({ references: [reference] })).snapshots[0]!;
  const far = "9999-12-31T23:59:59.999Z";

  test("takes a snapshot from pending to signed, also when the call is repeated", async () => {
    const reference = await publish();
    expect((await read(reference)).pending).toBe(true);
    for (let times = 0; times < 2; times++) {
      await settle(settlementOf(reference));
      expect(await read(reference)).toMatchObject({ pending: false, signature: signatureOf(reference) });
    }
  });

  test("keeps the signature with the highest signing number, whatever the signing times and order of calls", async () => {
    const reference = await publish();
    // Signing's clock was ahead when it signed with a key that was revoked afterwards.
    const ahead = signatureOf(reference, { keyId: "revoked", signedAt: far });
    const second = signatureOf(reference, { keyId: "b", signingNumber: 2, fill: 2 });
    const third = signatureOf(reference, { keyId: "c", signingNumber: 3, fill: 3 });
    for (const [next, expected] of [
      [ahead, ahead],
      [second, second],
      [ahead, second],
      [third, third],
      [second, third],
    ] as const) {
      await settle(settlementOf(reference, next));
      expect((await read(reference)).signature?.keyId).toBe(expected.keyId);
    }
  });

  test.each(["first", "second"])(
    "refuses a snapshot's %s signature which the signing service has not endorsed",
    async (which) => {
      const [reference, neighbour] = [await publish(), await publish()];
      const genuine = signatureOf(reference);
      if (which === "second") await settle(settlementOf(reference, genuine));
      const planted = signatureOf(reference, { keyId: "planted", signedAt: far, signingNumber: 2 });
      const { endorsement } = settlementOf(reference, genuine);
      for (const forged of [
        settlementOf(reference, planted, new Uint8Array()),
        settlementOf(reference, planted, new Uint8Array(32)),
        settlementOf(reference, planted, endorsement),
        settlementOf(reference, { ...genuine, signingNumber: 4_294_967_295 }, endorsement),
      ]) {
        const settled = settle(forged, settlementOf(neighbour));
        await expect(settled).rejects.toMatchObject({ code: Code.FailedPrecondition });
      }
      expect((await read(neighbour)).pending).toBe(false);
      const { pending, signature } = await read(reference);
      expect(pending).toBe(which === "first");
      if (which === "second") expect(signature).toMatchObject(genuine);
      else expect(signature).toBeUndefined();
    },
  );

  test.each(["of another snapshot", "whose statement names another key"])("refuses a signature %s", async (which) => {
    const [reference, other] = [await publish(), await publish()];
    const wrong = which === "of another snapshot" ? signatureOf(other) : { ...signatureOf(reference), keyId: "b" };
    await expect(settle(settlementOf(reference, wrong))).rejects.toThrow("another snapshot or key");
    expect((await read(reference)).pending).toBe(true);
  });

  test("refuses a signature whose signing number is 0", async () => {
    const reference = await publish();
    const unnumbered = signatureOf(reference, { signingNumber: 0 });
    await expect(settle(settlementOf(reference, unnumbered))).rejects.toThrow("from 1");
    expect((await read(reference)).pending).toBe(true);
  });

  test("keeps the reason why a snapshot can never be sent, unless it was signed before or is signed later", async () => {
    const [unsendable, signed] = [await publish(), await publish()];
    await settle(settlementOf(signed));
    const outcome = { case: "unsendable", value: "signed with another digest" } as const;
    const settlements = [unsendable, signed].map((reference) => ({ reference, outcome }));
    await service.feed.settleSnapshots({ settlements });
    const row = ({ documentId }: { documentId: string }) => service.db.collection("snapshots").findOne({ documentId });
    expect(await row(unsendable)).toMatchObject({ unsendable: "signed with another digest" });
    expect((await read(unsendable)).pending).toBe(false);
    expect(await row(signed)).not.toHaveProperty("unsendable");
    await settle(settlementOf(unsendable));
    expect(await row(unsendable)).not.toHaveProperty("unsendable");
  });

  test("settles the others when one snapshot does not exist, and fails with the number of missing ones", async () => {
    const reference = await publish();
    const unknown = { ...reference, documentId: randomUUID() };
    const settled = settle(settlementOf(unknown), settlementOf(reference));
    await expect(settled).rejects.toThrow("1 of these snapshots do not exist");
    expect((await read(reference)).pending).toBe(false);
  });

  test.each([
    ["without an outcome", { case: undefined }],
    ["with an empty reason", { case: "unsendable", value: "" }],
    ["with a reason of 257 characters", { case: "unsendable", value: "x".repeat(257) }],
    [
      "with a signature of 63 bytes",
      { case: "signature", value: { keyId: "a", statement: "s", value: new Uint8Array(63), signingNumber: 1 } },
    ],
  ] as const)("refuses a settlement %s", async (_, outcome) => {
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
    // One transaction, so that these snapshots share their commit time.
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
    await service.feed.settleSnapshots({ settlements: [settlementOf(reference)] });
    await publish("neighbour");
  });

  test("lists a tenant's snapshots, pending or not, in commit order and once each, across pages", async () => {
    expect(own).toHaveLength(11);
    for (const limit of [0, 1, 2, 5, 11]) expect(await list({}, limit)).toEqual(own.map(keyOf));
    expect(await list({ tenantId: "nobody" })).toEqual([]);
  });

  test("lists snapshots from a time on", async () => {
    const committedSince = timestampFromDate(own[7]!.at);
    expect(await list({ committedSince }, 2)).toEqual(own.slice(7).map(keyOf));
  });

  test("lists snapshots before a time", async () => {
    const committedUntil = timestampFromDate(own[9]!.at);
    expect(await list({ committedUntil }, 2)).toEqual(own.slice(0, 9).map(keyOf));
  });

  test("lists only snapshots of the types that are asked for", async () => {
    const tags = own.filter(({ type }) => type === "core/tag");
    expect(await list({ documentTypes: ["core/tag", "core/image"] })).toEqual(tags.map(keyOf));
  });

  test("lists only each document's newest snapshot, on request", async () => {
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

  test("says when each snapshot was committed", async () => {
    const { snapshots } = await service.feed.listSnapshots({ tenantId: tenant });
    expect(snapshots.map(({ committedAt }) => committedAt)).toEqual(own.map(({ at }) => timestampFromDate(at)));
  });

  test("finds snapshots in an index alone, without reading their rows", async () => {
    const query = { committedSince: timestampFromDate(new Date(0)) };
    const reads = { "command.find": "snapshots", "command.filter.tenantId": tenant };
    const { entries } = await profiled(service.db, reads, () => list(query));
    expect(entries).toMatchObject([{ docsExamined: 0, nreturned: own.length }]);
  });

  test.each([
    ["limit", { limit: 1_001 }],
    ["page_token", { pageToken: "x" }],
    ["tenant_id", { tenantId: "$ne" }],
    ["100 types", { documentTypes: Array.from({ length: 101 }, () => "core/tag") }],
  ])("refuses a wrong request and says what is wrong: %s", async (words, query) => {
    await expect(service.feed.listSnapshots({ tenantId: tenant, ...query })).rejects.toThrow(words);
  });
});
