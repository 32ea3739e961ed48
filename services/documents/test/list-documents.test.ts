import { profiled } from "@vidimus/devstack/testing/profile";
import { DocumentOrder } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

let documents: RunningDocuments;
const ids: string[] = [];

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  for (const [index, type] of ["core/article", "core/image", "core/tag", "core/article", "core/article"].entries()) {
    ids.push(await create("demo", type, `T${index}`));
  }
  // One batch, so that many share the time of their last change.
  const items = Array.from({ length: 20 }, () => ({
    tenantId: "crowd",
    draft: { documentJson: draft("core/tag", "C") },
  }));
  await documents.client.batchCreateDocuments({ items });
});

afterAll(async () => {
  await documents[Symbol.asyncDispose]();
});

function draft(type: string, title: string, id = randomUUID()) {
  return json({ id, type, title });
}

async function create(tenantId: string, type: string, title: string): Promise<string> {
  const { documentId } = await documents.client.createDocument({
    tenantId,
    draft: { documentJson: draft(type, title) },
  });
  return documentId;
}

type ListRequest = Parameters<RunningDocuments["client"]["listDocuments"]>[0];

async function walk(request: ListRequest) {
  const walked: string[] = [];
  let pageToken = "";
  do {
    const page = await documents.client.listDocuments({ ...request, pageToken });
    walked.push(...page.documents.map(({ documentId }) => documentId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return walked;
}

test("documents are listed last changed first, without their content", async () => {
  const page = await documents.client.listDocuments({ tenantId: "demo" });
  expect(new Set(page.documents.map(({ documentId }) => documentId))).toEqual(new Set(ids));
  const times = page.documents.map(({ changedAt }) => Number(changedAt!.seconds) * 1e3 + changedAt!.nanos / 1e6);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(page.nextPageToken).toBe("");
  for (const each of page.documents) expect(each).not.toHaveProperty("documentJson");
  expect(page.documents.find(({ documentId }) => documentId === ids[1])).toMatchObject({
    type: "core/image",
    version: 1n,
    status: "draft",
    title: "T1",
  });
});

test.each([1, 3, 20, 200])("a walk in pages of %i shows each document once, ties included", async (limit) => {
  const walked = await walk({ tenantId: "crowd", limit });
  expect(walked).toHaveLength(20);
  expect(new Set(walked).size).toBe(20);
  expect(new Set(await walk({ tenantId: "demo", limit }))).toEqual(new Set(ids));
});

test("type and status narrow the list, and an edit brings a document to its front", async () => {
  const articles = [ids[0]!, ids[3]!, ids[4]!];
  expect(new Set(await walk({ tenantId: "demo", type: "core/article", limit: 1 }))).toEqual(new Set(articles));
  const transition = { documentId: ids[3]!, name: "submit", expectedVersion: 1n };
  await documents.client.transitionDocument(
    { tenantId: "demo", transition },
    { headers: { "vidimus-role": "editor" } },
  );
  expect(await walk({ tenantId: "demo", status: "review" })).toEqual([ids[3]]);
  expect(await walk({ tenantId: "demo", status: "review", type: "core/image" })).toEqual([]);
  await documents.client.updateDocument({
    tenantId: "demo",
    documentId: ids[0]!,
    expectedVersion: 1n,
    documentJson: json({ title: "again" }),
  });
  expect((await walk({ tenantId: "demo", type: "core/article" }))[0]).toBe(ids[0]);
});

describe("a list", () => {
  const tenantId = "filters";
  const as = (actor: string) => ({ headers: { "vidimus-role": "editor", "vidimus-actor": actor } });
  const made: string[] = [];

  beforeAll(async () => {
    for (const [index, actor] of ["ida", "bob", "ida", "J%C3%BCrgen"].entries()) {
      const request = { tenantId, draft: { documentJson: draft("core/tag", `T${index}`) } };
      made.push((await documents.client.createDocument(request, as(actor))).documentId);
    }
  });

  const titles = async (request: object) => {
    const page = await documents.client.listDocuments({ tenantId, ...request });
    return page.documents.map(({ title }) => title);
  };

  test("of an actor has the documents whose newest version the actor wrote", async () => {
    expect(await titles({ actor: "ida" })).toEqual(["T2", "T0"]);
    expect(await titles({ actor: "J\u00fcrgen" })).toEqual(["T3"]);
    expect(await titles({ actor: "Ida" })).toEqual([]);
    const edit = { tenantId, documentId: made[0]!, expectedVersion: 1n, documentJson: json({ title: "T0b" }) };
    await documents.client.updateDocument(edit, as("bob"));
    expect(await titles({ actor: "ida" })).toEqual(["T2"]);
    expect(await titles({ actor: "bob" })).toEqual(["T0b", "T1"]);
  });

  test("is ordered by change or by creation, and a page token of one order is invalid in the other", async () => {
    expect(await titles({})).toEqual(["T0b", "T3", "T2", "T1"]);
    expect(await titles({ order: DocumentOrder.CREATED })).toEqual(["T3", "T2", "T1", "T0b"]);
    for (const order of [DocumentOrder.CHANGED, DocumentOrder.CREATED]) {
      const walked = await walk({ tenantId, limit: 1, order });
      expect(new Set(walked)).toEqual(new Set(made));
      expect(walked).toHaveLength(4);
    }
    const { nextPageToken: pageToken } = await documents.client.listDocuments({ tenantId, limit: 1 });
    const other = documents.client.listDocuments({ tenantId, pageToken, order: DocumentOrder.CREATED });
    await expect(failure(other)).resolves.toMatchObject({ code: "InvalidArgument" });
  });

  test("since a time has what changed then or later, and counts all pages when asked to", async () => {
    const { documents: all } = await documents.client.listDocuments({ tenantId });
    const changedSince = all[1]!.changedAt!;
    expect(await titles({ changedSince })).toEqual(["T0b", "T3"]);
    expect(await titles({ changedSince: { ...changedSince, nanos: changedSince.nanos + 1 } })).toEqual(["T0b"]);
    expect(await walk({ tenantId, changedSince, limit: 1 })).toHaveLength(2);
    const counted = await documents.client.listDocuments({ tenantId, changedSince, limit: 1, count: true });
    expect([counted.count, counted.documents.length]).toEqual([2, 1]);
    expect((await documents.client.listDocuments({ tenantId })).count).toBeUndefined();
  });

  test.each([
    { type: "core/tag", status: "draft", actor: "bob" },
    { order: DocumentOrder.CREATED, status: "draft", actor: "bob", changedSince: { seconds: 1n, nanos: 0 } },
    { count: true, actor: "bob", status: "draft" },
  ])("%o reads no rows but those of the documents that it shows", async (request) => {
    await using mongo = await MongoClient.connect(inject("mongoUrl"));
    const db = mongo.db(documents.database);
    const list = () => documents.client.listDocuments({ tenantId, ...request });
    const { entries: reads } = await profiled(db, { ns: `${documents.database}.heads` }, list);
    expect(reads.length).toBeGreaterThan(0);
    for (const { planSummary, docsExamined } of reads) {
      expect(planSummary).toMatch(/^IXSCAN|^COUNT_SCAN/);
      expect(docsExamined).toBeLessThanOrEqual(2);
    }
  });
});

test("a limit above 200, and a token that was not made here, are refused", async () => {
  const { client } = documents;
  for (const request of [{ limit: 201 }, { pageToken: "nonsense" }, { pageToken: "x".repeat(1_000) }]) {
    const call = client.listDocuments({ tenantId: "demo", ...request });
    await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
  }
});
