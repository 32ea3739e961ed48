import * as fc from "fast-check";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

const tenantId = "demo";
let documents: RunningDocuments;

beforeAll(async () => {
  documents = await runDocuments({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});

afterAll(() => documents[Symbol.asyncDispose]());

const editor = { headers: { "vidimus-actor": "bob", "vidimus-role": "editor" } };

/** Takes a document in and approves it; undefined when it is refused. */
async function approved(body: object): Promise<string | undefined> {
  const draft = { documentJson: json(body), intakeToken: randomUUID() };
  const { results } = await documents.client.importDocuments({ tenantId, drafts: [draft] });
  const outcome = results[0]!.outcome;
  if (outcome.case !== "created") return undefined;
  const { documentId } = outcome.value;
  for (const name of ["submit", "approve"]) {
    await documents.client.transitionDocument({ tenantId, transition: { documentId, name, expectedVersion: 1n } });
  }
  return documentId;
}

async function shown(documentId: string): Promise<Uint8Array> {
  return (await documents.client.getDocument({ tenantId, documentId })).document!.documentJson;
}

function update(documentId: string, documentJson: Uint8Array, expectedVersion = 1n) {
  return documents.client.updateDocument({ tenantId, documentId, expectedVersion, documentJson }, editor);
}

const text = fc.string({ unit: "grapheme", minLength: 1 });
const leaf = fc.record({ text: fc.string({ unit: "grapheme" }), marks: fc.array(fc.jsonValue({ maxDepth: 1 })) });
const children = fc.array(leaf, { minLength: 1, maxLength: 3 });
const title = fc.oneof(
  text,
  children.map((content) => ({ type: "doc", content: [{ type: "paragraph", content }] })),
  children.map((each) => ({ root: { type: "root", children: [{ type: "paragraph", children: each }] } })),
  children.map((each) => ({ children: each })),
  children.map((blocks) => ({ blocks, version: 1 })),
);
const object = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 4 });
const members = fc.record(
  {
    type: fc.constantFrom("core/newswire", "core/article", "core/tag"),
    title,
    meta: fc.oneof(
      object,
      object.map((meta) => ({ ...meta, status: "usable", version: 9 })),
    ),
    content: object,
    links: fc.array(fc.record({ rel: text, type: text, uri: fc.constant("urn:a:b") }), { maxLength: 2 }),
    updated_at: fc.constant("2026-01-01T00:00:00.000Z"),
    tenantId: text,
  },
  { requiredKeys: ["type", "title"] },
);
const body = fc.oneof(
  members.map((document) => ({ id: randomUUID().toUpperCase(), ...document })),
  members.map((payload) => ({ version: 1, payload })),
);

test("an update with what GetDocument shows changes nothing, in whatever form the document was created", async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(body, async (request) => {
      const id = await approved(request);
      if (id === undefined) return;
      taken += 1;
      const before = await shown(id);
      const readHistory = () => documents.client.listDocumentHistory({ tenantId, documentId: id });
      const history = await readHistory();
      for (const bytes of [before, json(JSON.parse(Buffer.from(before).toString()))]) {
        const { document } = await update(id, bytes);
        expect(document).toMatchObject({ version: 1n, status: "approved" });
        expect(document?.documentJson).toEqual(before);
      }
      expect(await shown(id)).toEqual(before);
      expect(await readHistory()).toEqual(history);
    }),
    { numRuns: 100 },
  );
  expect(taken).toBeGreaterThan(50);
});

const rich = {
  type: "doc",
  content: [{ type: "paragraph", content: [{ type: "text", text: "Quake", marks: ["b"] }] }],
};

test("each version of a document shows its title as it was sent, rich or plain", async () => {
  const id = await approved({ id: randomUUID(), type: "core/tag", title: rich, meta: { slug: "quake" } });
  const first = JSON.parse(Buffer.from(await shown(id!)).toString()) as { meta: object };
  expect(first).toMatchObject({ title: rich });
  await update(id!, json({ ...first, meta: { slug: "quakes" } }));
  await update(id!, json({ title: "Quake", meta: { slug: "quakes" } }), 2n);
  const titles = [];
  for (const version of [1n, 2n, 3n]) {
    const { documentJson } = await documents.client.getDocumentVersion({ tenantId, documentId: id!, version });
    titles.push((JSON.parse(Buffer.from(documentJson).toString()) as { title: unknown }).title);
  }
  expect(titles).toEqual([rich, rich, "Quake"]);
});

test("ListDocuments shows the text of a rich title", async () => {
  const id = await approved({ id: randomUUID(), type: "core/tag", title: rich, meta: { slug: "quake" } });
  const list = await documents.client.listDocuments({ tenantId, type: "core/tag" });
  expect(list.documents.find(({ documentId }) => documentId === id)).toMatchObject({ title: "Quake" });
});

test("an update repeated with its request token gets its first answer, also after a later rich title", async () => {
  const id = await approved({ id: randomUUID(), type: "core/tag", title: "One" });
  const request = { tenantId, documentId: id!, expectedVersion: 1n, requestToken: randomUUID() };
  const documentJson = json({ title: "Two" });
  const { document } = await documents.client.updateDocument({ ...request, documentJson }, editor);
  await update(id!, json({ title: rich }), 2n);
  const again = await documents.client.updateDocument({ ...request, documentJson }, editor);
  expect(again.document).toEqual(document);
});

test.each([
  ["of nearly 1 MiB", () => ({ text: "x".repeat(1024 * 1024 - 120) })],
  ["whose numbers are shown longer", () => ({ numbers: "N".repeat(4) })],
])("a document %s may be sent back as shown, though that is over 1 MiB", async (_, content) => {
  const numbers = Array.from({ length: 200_000 }, () => "1e20").join();
  const sent = JSON.stringify({ id: randomUUID(), type: "core/article", title: "T", content: content() });
  const documentJson = Buffer.from(sent.replace('"NNNN"', `[${numbers}]`));
  const { documentId } = await documents.client.createDocument({ tenantId, draft: { documentJson } });
  const before = await shown(documentId);
  expect(before.byteLength).toBeGreaterThan(1024 * 1024);
  const { document } = await update(documentId, before);
  expect(document).toMatchObject({ version: 1n, status: "draft" });
});
