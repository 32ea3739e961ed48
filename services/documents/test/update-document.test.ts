import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

let documents: RunningDocuments;
let mongo: MongoClient;

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  mongo = await MongoClient.connect(inject("mongoUrl"));
});

afterAll(async () => {
  await mongo.close();
  await documents[Symbol.asyncDispose]();
});

const tenantId = "demo";
const article = {
  type: "core/article",
  title: "One",
  meta: { slug: "one", language: "en" },
  content: { blocks: [{ type: "core/text", data: { html: "1" } }] },
};

async function created(more: object = {}): Promise<string> {
  const id = randomUUID();
  const body = { id, ...article, meta: { ...article.meta, slug: id }, ...more };
  await documents.client.createDocument({ tenantId, draft: { documentJson: json(body) } }, as("ann", "writer"));
  return id;
}

function update(documentId: string, expectedVersion: number, value: unknown, actor = as("bob", "writer")) {
  const request = { tenantId, documentId, expectedVersion: BigInt(expectedVersion), documentJson: json(value) };
  return documents.client.updateDocument(request, actor);
}

function transition(documentId: string, name: string, expectedVersion: number) {
  const transition = { documentId, name, expectedVersion: BigInt(expectedVersion) };
  return documents.client.transitionDocument({ tenantId, transition }, as("eve", "admin"));
}

function as(actor: string, role: string) {
  return { headers: { "vidimus-actor": actor, "vidimus-role": role } };
}

async function shown(documentId: string) {
  const { document } = await documents.client.getDocument({ tenantId, documentId });
  return { ...document!, json: JSON.parse(Buffer.from(document!.documentJson).toString()) };
}

async function version(documentId: string, version: number) {
  const found = await documents.client.getDocumentVersion({ tenantId, documentId, version: BigInt(version) });
  return { ...found.version!, json: JSON.parse(Buffer.from(found.documentJson).toString()) };
}

test("an update is answered with the new version", async () => {
  const id = await created();
  const { document } = await update(id, 1, { title: "Two" });
  expect(document).toMatchObject({ version: 2n, documentJson: (await shown(id)).documentJson });
});

test("an update replaces title, meta and content: what it leaves out is gone", async () => {
  const id = await created();
  await update(id, 1, { title: "Two", meta: { own: 1, status: "usable", version: 9 } });
  const now = await shown(id);
  expect(now.json).toEqual({
    id,
    type: "core/article",
    title: "Two",
    meta: { own: 1, status: "draft", version: 2 },
    content: {},
    links: [],
  });
  expect(now).toMatchObject({ version: 2n, status: "draft" });
});

test("a writer may not edit a spiked document, an admin may", async () => {
  const id = await created();
  await transition(id, "spike", 1);
  const refused = await failure(update(id, 1, { title: "Two" }, as("bob", "writer")));
  expect(refused).toMatchObject({ code: "PermissionDenied", message: expect.stringContaining("spiked") });
  expect(await shown(id)).toMatchObject({ version: 1n, status: "spiked" });
  await update(id, 1, { title: "Two" }, as("eve", "admin"));
  expect(await shown(id)).toMatchObject({ version: 2n, status: "draft" });
});

test("an edit of a document in review or approved makes a draft of it", async () => {
  const inReview = await created();
  await transition(inReview, "submit", 1);
  await update(inReview, 1, { title: "Two" }, as("bob", "writer"));
  const approved = await created();
  await transition(approved, "submit", 1);
  await transition(approved, "approve", 1);
  await update(approved, 1, { title: "Two" }, as("bob", "writer"));
  for (const id of [inReview, approved]) expect(await shown(id)).toMatchObject({ version: 2n, status: "draft" });
});

test("the document as GetDocument shows it can be changed and sent back", async () => {
  const id = await created();
  const before = await shown(id);
  await update(id, 1, { ...before.json, title: "Two" });
  const after = await shown(id);
  expect(after.json).toEqual({ ...before.json, title: "Two", meta: { ...before.json.meta, version: 2 } });
});

test("older versions keep their content, author and last status", async () => {
  const id = await created();
  const first = await shown(id);
  await transition(id, "submit", 1);
  await update(id, 1, { ...article, title: "Two" });
  await update(id, 2, { ...article, title: "Three" }, as("cat", "editor"));
  expect(await version(id, 1)).toMatchObject({
    version: 1n,
    status: "review",
    title: "One",
    writtenAt: first.createdAt,
    writtenBy: { actor: "ann", role: "writer" },
    json: { ...first.json, meta: { ...first.json.meta, status: "review" } },
  });
  expect(await version(id, 2)).toMatchObject({ status: "draft", title: "Two", writtenBy: { actor: "bob" } });
  expect(await version(id, 3)).toMatchObject({ status: "draft", title: "Three", writtenBy: { actor: "cat" } });
  expect((await shown(id)).status).toBe("draft");
});

test("an update to a plain title removes the rich one from the head and keeps it in the old version", async () => {
  const rich = { type: "doc", content: [{ type: "text", text: "Rich" }] };
  const id = await created({ title: rich });
  await update(id, 1, { title: "Plain" });
  const row = await mongo.db(documents.database).collection("heads").findOne({ documentId: id });
  expect(row).not.toHaveProperty("titleRich");
  const kept = await mongo.db(documents.database).collection("versions").findOne({ documentId: id });
  expect(JSON.parse(kept?.["titleRich"].toString("utf8"))).toEqual(rich);
});

test("what is published changes when a new version is published, not when it is written", async () => {
  const id = await created();
  await transition(id, "publish", 1);
  const { lastPublished } = await shown(id);
  expect(lastPublished).toMatchObject({ version: 1n, status: "usable", sequence: 1n });
  const publication = () => mongo.db(documents.database).collection("publications").findOne({ documentId: id });
  const before = await publication();
  await update(id, 1, { ...article, title: "Two", meta: { slug: id, language: "en" } });
  expect(await publication()).toEqual(before);
  expect(await shown(id)).toMatchObject({ version: 2n, status: "draft", lastPublished });
  await transition(id, "withhold", 1);
  expect(await version(id, 1)).toMatchObject({ status: "withheld", title: "One" });
  await transition(id, "publish", 2);
  expect((await shown(id)).lastPublished).toMatchObject({ version: 2n, status: "usable" });
});

test("an update of a killed document is FAILED_PRECONDITION and writes no version", async () => {
  const id = await created();
  await transition(id, "publish", 1);
  await transition(id, "kill", 1);
  await expect(failure(update(id, 1, article))).resolves.toMatchObject({ code: "FailedPrecondition" });
  expect((await shown(id)).version).toBe(1n);
});

test("an update that expects an older or a later version is ABORTED, and told the current one", async () => {
  const id = await created();
  await update(id, 1, article);
  await transition(id, "submit", 2);
  await expect(failure(update(id, 1, article))).resolves.toMatchObject({
    code: "Aborted",
    kind: "conflict",
    message: "version 1 was expected, but version 2 stands there, review",
  });
  await expect(failure(update(id, 3, article))).resolves.toMatchObject({
    code: "Aborted",
    message: "version 3 was expected, but version 2 stands there, review",
  });
});

test("an update that expects version 0 is INVALID_ARGUMENT", async () => {
  const id = await created();
  await expect(failure(update(id, 0, article))).resolves.toMatchObject({ code: "InvalidArgument" });
});

test("of 32 concurrent updates of a version one succeeds, and 31 are ABORTED and told the current one", async () => {
  const id = await created();
  const calls = Array.from({ length: 32 }, (_, index) => update(id, 1, { ...article, title: `writer ${index}` }));
  const settled = await Promise.allSettled(calls);
  const won = settled.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
  expect(won).toHaveLength(1);
  const lost = await Promise.all(calls.filter((_, index) => index !== won[0]).map(failure));
  expect(lost).toHaveLength(31);
  for (const refusal of lost) {
    expect(refusal).toMatchObject({
      code: "Aborted",
      message: "version 1 was expected, but version 2 stands there, draft",
    });
  }
  expect((await shown(id)).json.title).toBe(`writer ${won[0]}`);
  const db = mongo.db(documents.database);
  expect(await db.collection("versions").countDocuments({ documentId: id })).toBe(1);
  expect(await db.collection("history").countDocuments({ documentId: id })).toBe(1);
});

test("concurrent updates and transitions leave no gap in versions and history", async () => {
  const id = await created();
  let seen = 1;
  for (let round = 0; round < 10; round += 1) {
    const current = seen;
    const [edited] = await Promise.allSettled([
      update(id, current, { ...article, title: `round ${round}` }),
      transition(id, "submit", current),
    ]);
    expect(edited.status).toBe("fulfilled");
    seen += 1;
  }
  const db = mongo.db(documents.database);
  const versions = await db.collection("versions").find({ documentId: id }).sort({ version: 1 }).toArray();
  expect(versions.map((row) => row["version"])).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
  const history = await db.collection("history").find({ documentId: id }).sort({ at: 1, _id: 1 }).toArray();
  expect(history.filter((row) => row["transition"] === undefined)).toHaveLength(10);
  let state = "draft";
  for (const { from, to } of history) {
    expect(from).toBe(state);
    state = to;
  }
  expect((await shown(id)).status).toBe(state);
});

test.each<[string, unknown, string]>([
  ["an array", [], ""],
  ["another id", { ...article, id: randomUUID() }, "/id"],
  ["another type", { ...article, type: "core/image" }, "/type"],
  ["a wrong title", { ...article, title: 7 }, "/title"],
  ["a wrong shape", { ...article, meta: { slug: 7 } }, "/meta/slug"],
  ["an unknown member", { ...article, extra: 7 }, "/extra"],
])("an update with %s is invalid, and a pointer leads to the fault", async (_, body, pointer) => {
  const id = await created();
  const refusal = await failure(update(id, 1, body));
  expect(refusal).toMatchObject({ code: "InvalidArgument", kind: "invalid" });
  expect(refusal.pointers).toContain(pointer);
  expect((await shown(id)).version).toBe(1n);
});

test("an update of a document that does not exist is NOT_FOUND", async () => {
  await expect(failure(update(randomUUID(), 1, article))).resolves.toMatchObject({ code: "NotFound" });
});

test("an update of another tenant's document is NOT_FOUND", async () => {
  const id = await created();
  const request = { tenantId: "rival", documentId: id, expectedVersion: 1n, documentJson: json(article) };
  await expect(failure(documents.client.updateDocument(request))).resolves.toMatchObject({ code: "NotFound" });
});

test("pages of a document's versions are newest first, and show each once", async () => {
  const id = await created();
  for (let seen = 1; seen < 6; seen += 1) await update(id, seen, { ...article, title: `T${seen + 1}` });
  const walked: bigint[] = [];
  let pageToken = "";
  do {
    const page = await documents.client.listDocumentVersions({ tenantId, documentId: id, limit: 2, pageToken });
    expect(page.versions.length).toBe(2);
    walked.push(...page.versions.map((entry) => entry.version));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(walked).toEqual([6n, 5n, 4n, 3n, 2n, 1n]);
  const all = await documents.client.listDocumentVersions({ tenantId, documentId: id });
  expect(all.versions.map(({ title }) => title)).toEqual(["T6", "T5", "T4", "T3", "T2", "One"]);
});

test("the versions of another tenant's document are NOT_FOUND", async () => {
  const id = await created();
  const foreign = { tenantId: "rival", documentId: id };
  const listed = documents.client.listDocumentVersions(foreign);
  await expect(failure(listed)).resolves.toMatchObject({ code: "NotFound" });
  const read = documents.client.getDocumentVersion({ ...foreign, version: 1n });
  await expect(failure(read)).resolves.toMatchObject({ code: "NotFound" });
});

test("a version that the document does not have is NOT_FOUND", async () => {
  const id = await created();
  await expect(failure(version(id, 2))).resolves.toMatchObject({ code: "NotFound" });
});

test("a read of version 0 is INVALID_ARGUMENT", async () => {
  const id = await created();
  await expect(failure(version(id, 0))).resolves.toMatchObject({ code: "InvalidArgument" });
});

test("a document's history lists who did what, newest first, down to its intake", async () => {
  const id = await created();
  await transition(id, "publish", 1);
  await update(id, 1, article);
  await transition(id, "submit", 2);
  const { entries } = await documents.client.listDocumentHistory({ tenantId, documentId: id });
  const steps = entries.map(({ by, fromStatus, toStatus, ...step }) => {
    return [by?.actor, step.transition, step.version, fromStatus, toStatus];
  });
  expect(steps).toEqual([
    ["eve", "submit", 2n, "draft", "review"],
    ["bob", "", 2n, "usable", "draft"],
    ["eve", "publish", 1n, "draft", "usable"],
    ["ann", "", 1n, "", "draft"],
  ]);
  const times = entries.map(({ at }) => Number(at!.seconds) * 1e9 + at!.nanos);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
});

test.each([1, 2, 3, 4])("history is walked in pages of %i, each entry once", async (limit) => {
  const id = await created();
  for (const [name, seen] of [
    ["submit", 1],
    ["return", 1],
    ["submit", 1],
  ] as const)
    await transition(id, name, seen);
  const walked: string[] = [];
  let pageToken = "";
  do {
    const page = await documents.client.listDocumentHistory({ tenantId, documentId: id, limit, pageToken });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    walked.push(...page.entries.map(({ transition }) => transition));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(walked).toEqual(["submit", "return", "submit", ""]);
});
