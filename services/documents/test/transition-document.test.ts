import { Code, ConnectError } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

const tenantId = "acme";
let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function codeOf(call: Promise<unknown>): Promise<Code | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ConnectError ? error.code : undefined;
}

/** Writes the next version of a document straight into the database. */
async function edit(documentId: string): Promise<void> {
  const head = await service.db.collection("heads").findOne({ tenantId, documentId });
  const { content, links, meta, title, version, schemaGeneration, createdAt, changedBy } = head!;
  await service.db.collection("versions").insertOne({
    tenantId,
    documentId,
    version,
    schemaGeneration,
    createdAt,
    createdBy: changedBy,
    content,
    links,
    meta,
    title,
  });
  const edited = { version: version + 1, status: "draft", title: Buffer.from('"Edited"'), changedBy: { actor: "eve" } };
  await service.db.collection("heads").updateOne({ tenantId, documentId }, { $set: edited });
}

async function createPublishedAndEdited(): Promise<string> {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  await edit(id);
  return id;
}

describe("publishing", () => {
  test("shows the document to readers with status usable and exactly six JSON members", async () => {
    const tenant = "six";
    const id = await service.create(tenant, article({ links: [{ rel: "subject", type: "core/tag", uri: "iptc:1" }] }));
    const taken = await service.take(tenant, id, "publish");
    expect(taken).toMatchObject({ version: 1n, status: "usable", sequence: 1n });
    const items = await service.list(tenant);
    expect(items).toHaveLength(1);
    expect(Object.keys(items[0]!)).toEqual(["content", "id", "meta", "title", "type", "updated_at"]);
    expect(items[0]).toMatchObject({ id, meta: { status: "usable", version: 1 } });
  });

  test("refuses a document without a member that its type requires for publication, and names the member", async () => {
    const draft = article();
    const id = await service.create(tenantId, { ...draft, meta: { language: "de" } });
    await expect(service.take(tenantId, id, "publish")).rejects.toThrow(/publishValid: \/meta.*slug/);
    expect(await service.db.collection("snapshots").countDocuments({ documentId: id })).toBe(0);
  });

  test("refuses a slug that another published document of the type has, until that one is withdrawn", async () => {
    const [first, second] = await Promise.all([
      service.create(tenantId, article({ slug: "same" })),
      service.create(tenantId, article({ slug: "same" })),
    ]);
    await service.take(tenantId, first, "publish");
    await expect(service.take(tenantId, second, "publish")).rejects.toThrow(`slug of published document ${first}`);
    await service.take(tenantId, first, "withhold");
    await service.take(tenantId, second, "publish");
    await expect(service.take(tenantId, first, "publish")).rejects.toThrow(`slug of published document ${second}`);
  });

  test("succeeds for exactly one of two documents that have one slug and are published concurrently", async () => {
    const ids = await Promise.all([1, 2].map(() => service.create(tenantId, article({ slug: "race" }))));
    const settled = await Promise.allSettled(ids.map((id) => service.take(tenantId, id, "publish")));
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("refuses a document whose embargo has not ended", async () => {
    const id = await service.create(tenantId, article({ meta: { embargoUntil: "2999-01-01T00:00:00Z" } }));
    await expect(service.take(tenantId, id, "publish")).rejects.toThrow("notEmbargoed");
  });

  test.each([
    ["a role that may not publish", "writer"],
    ["a caller without a role", ""],
  ])("says PERMISSION_DENIED to %s", async (_, role) => {
    const id = await service.create(tenantId, article());
    const transition = { documentId: id, name: "publish", expectedVersion: 1n };
    const call = service.documents.transitionDocument({ tenantId, transition }, as(role));
    expect(await codeOf(call)).toBe(Code.PermissionDenied);
  });

  test("answers ABORTED with the current version when another version is named", async () => {
    const id = await service.create(tenantId, article());
    const stale = service.take(tenantId, id, "publish", 2);
    await expect(stale).rejects.toThrow("version 2 was expected, but version 1 stands there, draft");
    expect(await codeOf(stale)).toBe(Code.Aborted);
  });

  test("says FAILED_PRECONDITION when the transition does not start at the document's status", async () => {
    const id = await service.create(tenantId, article());
    await service.take(tenantId, id, "publish");
    expect(await codeOf(service.take(tenantId, id, "publish"))).toBe(Code.FailedPrecondition);
  });

  test("says NOT_FOUND for another tenant's document", async () => {
    const id = await service.create("rival", article());
    expect(await codeOf(service.take(tenantId, id, "publish"))).toBe(Code.NotFound);
  });

  test("of an unknown document leaves nothing behind, not even a tick of the clock", async () => {
    expect(await codeOf(service.take("nobody", randomUUID(), "publish"))).toBe(Code.NotFound);
    for (const name of ["clocks", "heads", "history", "publications", "snapshots", "versions"]) {
      expect(await service.db.collection(name).countDocuments({ tenantId: "nobody" }), name).toBe(0);
    }
  });
});

test("a published version stays public while a newer version is a draft", async () => {
  const id = await createPublishedAndEdited();
  const during = (await service.list(tenantId)).find((item) => item.id === id);
  expect(during).toMatchObject({ title: "Snow on the pass", meta: { version: 1 } });
});

test("a transition changes the version it names", async () => {
  const id = await createPublishedAndEdited();
  expect(await codeOf(service.take(tenantId, id, "withhold", 2))).toBe(Code.Aborted);
  expect(await service.take(tenantId, id, "withhold", 1)).toMatchObject({ version: 1n, status: "withheld" });
  const { document } = await service.documents.getDocument({ tenantId, documentId: id });
  expect(document).toMatchObject({
    version: 2n,
    status: "draft",
    lastPublished: { version: 1n, status: "withheld" },
  });
  expect(await service.take(tenantId, id, "publish", 1)).toMatchObject({ version: 1n, sequence: 3n });
  expect(await service.take(tenantId, id, "publish", 2)).toMatchObject({ version: 2n, sequence: 4n });
  const published = (await service.list(tenantId)).find((item) => item.id === id);
  expect(published).toMatchObject({ title: "Edited", meta: { version: 2 } });
});

test("a kill makes a final withheld snapshot of the published version and ends the newer draft, too", async () => {
  const id = await createPublishedAndEdited();
  expect(await service.take(tenantId, id, "kill", 1)).toMatchObject({ status: "cancelled", sequence: 2n });
  const { document } = await service.documents.getDocument({ tenantId, documentId: id });
  expect(document).toMatchObject({
    version: 2n,
    status: "cancelled",
    lastPublished: { version: 1n, status: "cancelled" },
  });
  const { snapshots } = await service.feed.getSnapshots({
    references: [1n, 2n].map((sequence) => ({ tenantId, documentId: id, sequence })),
  });
  expect(snapshots.map(({ status, version }) => [status, version])).toEqual([
    ["usable", 1n],
    ["withheld", 1n],
  ]);
  const [published, killed] = snapshots.map(({ snapshotJson }) => JSON.parse(Buffer.from(snapshotJson).toString()));
  expect(killed).toMatchObject({ title: "Snow on the pass", meta: { status: "withheld", version: 1, final: true } });
  expect(published.meta).not.toHaveProperty("final");
  expect((await service.list(tenantId)).some((item) => item.id === id)).toBe(false);
  for (const version of [1, 2]) {
    expect(await codeOf(service.take(tenantId, id, "publish", version))).not.toBeUndefined();
  }
});

test("a draft can be spiked and restored", async () => {
  const id = await service.create(tenantId, article());
  expect(await service.take(tenantId, id, "spike")).toMatchObject({ status: "spiked", sequence: 0n });
  expect(await service.take(tenantId, id, "restore")).toMatchObject({ status: "draft" });
});

test("a document that was published cannot be spiked", async () => {
  const id = await createPublishedAndEdited();
  await expect(service.take(tenantId, id, "spike", 2)).rejects.toThrow("neverPublished");
});

test("each transition is kept in the history with its two states and its actor", async () => {
  const id = await service.create(tenantId, article());
  for (const name of ["submit", "approve", "publish"]) await service.take(tenantId, id, name);
  const rows = await service.db.collection("history").find({ tenantId, documentId: id }).sort({ _id: 1 }).toArray();
  expect(rows.map(({ transition, from, to, by }) => [transition, from, to, by.actor])).toEqual([
    ["submit", "draft", "review", "admin@example.com"],
    ["approve", "review", "approved", "admin@example.com"],
    ["publish", "approved", "usable", "admin@example.com"],
  ]);
});
