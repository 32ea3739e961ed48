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

async function pointers(value: unknown, forPublication = false) {
  const request = { tenantId: "demo", documentJson: json(value), forPublication };
  const { violations } = await documents.client.validateDocument(request);
  return violations.map(({ pointer }) => pointer);
}

const article = { type: "core/article", title: "T" };

test.each<[string, unknown]>([
  ["with an id", { ...article, id: randomUUID() }],
  ["without an id", article],
  ["in the wrapped form", { version: 1, payload: article }],
])("a dry run finds nothing wrong with a sound document %s", async (_, value) => {
  expect(await pointers(value)).toEqual([]);
});

test.each<[string, unknown, boolean, string[]]>([
  ["a document that is incomplete for publication", article, true, ["/meta/slug", "/meta/language", "/content/blocks"]],
  [
    "a wrapped document that is incomplete for publication",
    { version: 1, payload: { type: "core/tag", title: "T" } },
    true,
    ["/payload/meta/slug"],
  ],
  ["a wrong shape", { ...article, meta: { slug: 1 } }, false, ["/meta/slug"]],
  ["an unknown type", { ...article, type: "a/b" }, false, ["/type"]],
  ["a wrong id", { ...article, id: "7" }, false, ["/id"]],
  ["an array in place of an object", [], false, [""]],
])("a dry run points to the fault: %s", async (_, value, forPublication, expected) => {
  expect(await pointers(value, forPublication)).toEqual(expected);
});

test("a dry run points to a number that is too large to keep", async () => {
  const request = { tenantId: "demo", documentJson: Buffer.from('{"a":1e400}') };
  const { violations } = await documents.client.validateDocument(request);
  expect(violations).toMatchObject([{ pointer: "/a" }]);
});

test("a dry run with an empty tenant id is INVALID_ARGUMENT", async () => {
  const call = documents.client.validateDocument({ tenantId: "", documentJson: json(article) });
  await expect(failure(call)).resolves.toMatchObject({ code: "InvalidArgument" });
});

test("a dry run stores no document", async () => {
  expect(await pointers({ ...article, id: randomUUID() })).toEqual([]);
  expect(await mongo.db(documents.database).collection("heads").countDocuments()).toBe(0);
});
