import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { failure } from "./call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./running-documents.ts";

let documents: RunningDocuments;
const ids: string[] = [];

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  for (const [index, type] of ["core/article", "core/image", "core/tag", "core/article", "core/article"].entries()) {
    ids.push(await create("demo", type, `T${index}`));
  }
  // One batch, so that many share the moment they changed.
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

async function walk(request: { tenantId: string; type?: string; status?: string; limit?: number }) {
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

test("type and status narrow the list, and an edit moves a document to its front", async () => {
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

test("a page that cannot be is refused", async () => {
  const { client } = documents;
  for (const request of [{ limit: 201 }, { pageToken: "nonsense" }, { pageToken: "x".repeat(1_000) }]) {
    const call = client.listDocuments({ tenantId: "demo", ...request });
    await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
  }
});
