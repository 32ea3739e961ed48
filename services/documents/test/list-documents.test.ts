import { profiled } from "@vidimus/devstack/testing/profile";
import { toBinary } from "@bufbuild/protobuf";
import { DocumentOrder, ListDocumentsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/document_service";
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

test("documents are listed last changed first", async () => {
  const page = await documents.client.listDocuments({ tenantId: "demo" });
  expect(new Set(page.documents.map(({ documentId }) => documentId))).toEqual(new Set(ids));
  const times = page.documents.map(({ changedAt }) => Number(changedAt!.seconds) * 1e3 + changedAt!.nanos / 1e6);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(page.nextPageToken).toBe("");
  expect(page.documents.find(({ documentId }) => documentId === ids[1])).toMatchObject({
    type: "core/image",
    version: 1n,
    status: "draft",
    title: "T1",
  });
});

test("a list has no content of its documents", async () => {
  const documentJson = json({ id: randomUUID(), type: "core/tag", title: "T", content: { text: "of the body" } });
  await documents.client.createDocument({ tenantId: "content", draft: { documentJson } });
  const page = await documents.client.listDocuments({ tenantId: "content" });
  expect(page.documents).toHaveLength(1);
  const bytes = Buffer.from(toBinary(ListDocumentsResponseSchema, page));
  expect(bytes.includes("of the body")).toBe(false);
});

test.each([1, 3, 20, 200])(
  "a walk in pages of %i shows each document once, also those that changed at the same moment",
  async (limit) => {
    const walked = await walk({ tenantId: "crowd", limit });
    expect(walked).toHaveLength(20);
    expect(new Set(walked).size).toBe(20);
    expect(new Set(await walk({ tenantId: "demo", limit }))).toEqual(new Set(ids));
  },
);

test("a list of a type has the documents of that type", async () => {
  const articles = [ids[0]!, ids[3]!, ids[4]!];
  expect(new Set(await walk({ tenantId: "demo", type: "core/article", limit: 1 }))).toEqual(new Set(articles));
});

test("a list of a status has the documents in that status, but with a type none of another type", async () => {
  const transition = { documentId: ids[3]!, name: "submit", expectedVersion: 1n };
  await documents.client.transitionDocument(
    { tenantId: "demo", transition },
    { headers: { "vidimus-role": "editor" } },
  );
  expect(await walk({ tenantId: "demo", status: "review" })).toEqual([ids[3]]);
  expect(await walk({ tenantId: "demo", status: "review", type: "core/image" })).toEqual([]);
});

test("an edit brings a document to the front of the list", async () => {
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

  test.each([
    ["change by default", DocumentOrder.UNSPECIFIED, [0, 3, 2, 1]],
    ["change", DocumentOrder.CHANGED, [0, 3, 2, 1]],
    ["creation", DocumentOrder.CREATED, [3, 2, 1, 0]],
  ])("is ordered by %s, newest first, in pages of 1 and of 4", async (_, order, newestFirst) => {
    const expected = newestFirst.map((index) => made[index]);
    for (const limit of [1, 4]) expect(await walk({ tenantId, limit, order })).toEqual(expected);
  });

  test("refuses a page token of another order", async () => {
    const { nextPageToken: pageToken } = await documents.client.listDocuments({ tenantId, limit: 1 });
    const other = documents.client.listDocuments({ tenantId, pageToken, order: DocumentOrder.CREATED });
    await expect(failure(other)).resolves.toMatchObject({ code: "InvalidArgument" });
  });

  /** When the document changed that is the second of the list. */
  async function secondChange() {
    const { documents: all } = await documents.client.listDocuments({ tenantId });
    return all[1]!.changedAt!;
  }

  test("since a time has what changed then or later", async () => {
    const changedSince = await secondChange();
    expect(await titles({ changedSince })).toEqual(["T0b", "T3"]);
    expect(await titles({ changedSince: { ...changedSince, nanos: changedSince.nanos + 1 } })).toEqual(["T0b"]);
    expect(await walk({ tenantId, changedSince, limit: 1 })).toHaveLength(2);
  });

  test("counts the documents of all pages only when asked to", async () => {
    const request = { tenantId, changedSince: await secondChange(), limit: 1 };
    const counted = await documents.client.listDocuments({ ...request, count: true });
    expect([counted.count, counted.documents.length]).toEqual([2, 1]);
    expect((await documents.client.listDocuments(request)).count).toBeUndefined();
  });

  test.each([
    ["of a type, a status and an actor", { type: "core/tag", status: "draft", actor: "bob" }],
    [
      "in the order of creation, since a time,",
      { order: DocumentOrder.CREATED, status: "draft", actor: "bob", changedSince: { seconds: 1n, nanos: 0 } },
    ],
    ["with a count", { count: true, actor: "bob", status: "draft" }],
  ])("%s reads no rows but those of the documents that it shows", async (_, request) => {
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

test.each([
  ["a limit above 200", { limit: 201 }],
  ["a page token that no list returned", { pageToken: "nonsense" }],
  ["a page token of 1,000 characters", { pageToken: "x".repeat(1_000) }],
])("a list with %s is refused", async (_, request) => {
  const call = documents.client.listDocuments({ tenantId: "demo", ...request });
  await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
});
