import * as fc from "fast-check";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { canonicalInPython } from "./support/rfc8785.ts";
import { runDocuments, type RunningDocuments } from "./support/running-documents.ts";

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

/**
 * Values that canonicalisers find hard: names and strings of any code points, numbers of any size.
 */
const value = fc.jsonValue({ stringUnit: "binary", maxDepth: 5 });
const members = fc.dictionary(fc.string({ unit: "binary" }), value);
const members8785 = {
  "\u20AC": 1e21,
  "\r": 5e-324,
  "\uFB33": -0,
  "1": 1e-7,
  "\u{1F600}": 0.1 + 0.2,
  "\u0080": "\u2028<",
};

const draft = fc.record({
  type: fc.constant("core/newswire"),
  title: fc.string({ unit: "binary" }).map((text) => `T${text}`),
  meta: members.map((own) => ({ own, ...members8785 })),
  content: members.map((own) => ({ own })),
  links: fc.array(fc.record({ rel: fc.constant("r"), type: fc.constant("t"), uri: fc.constant("u:u"), data: members })),
});

test("content, links, meta and title are stored as Python's rfc8785 writes what was sent", async () => {
  const bodies = fc
    .sample(draft, 150)
    .map((body) => JSON.stringify({ ...body, id: randomUUID() }))
    .filter((text) => !text.includes('"__proto__"'));
  const sent = bodies.map((text): Record<string, unknown> => JSON.parse(text));
  for (const text of bodies) {
    await documents.client.createDocument({ tenantId: "demo", draft: { documentJson: Buffer.from(text) } });
  }
  const rows = await mongo.db(documents.database).collection("heads").find().toArray();
  const rowOf = new Map(rows.map((row) => [row["documentId"], row]));

  const parts = ["content", "links", "meta", "title"];
  const texts = sent.flatMap((body) => parts.map((part) => Buffer.from(JSON.stringify(body[part]))));
  const expected = await canonicalInPython(texts);
  const stored = sent.flatMap(({ id }) => parts.map((part) => Buffer.from(rowOf.get(id)?.[part].value())));
  expect(stored.length).toBeGreaterThan(400);
  expect(stored.map(String)).toEqual(expected.map(String));
});

test("the whole document that GetDocument answers is what Python's rfc8785 makes of it", async () => {
  const rows = await mongo.db(documents.database).collection("heads").find().toArray();
  const shown: Uint8Array[] = [];
  for (const { documentId } of rows) {
    const { document } = await documents.client.getDocument({ tenantId: "demo", documentId });
    shown.push(document!.documentJson);
  }
  const expected = await canonicalInPython(shown);
  expect(shown.map((bytes) => Buffer.from(bytes).toString())).toEqual(expected.map(String));
});
