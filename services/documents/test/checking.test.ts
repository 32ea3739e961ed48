import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { failure } from "./support/call-failure.ts";
import { type DocumentProcess, runDocumentProcess } from "./support/document-process.ts";
import { as, article } from "./support/publishing.ts";
import { json } from "./support/running-documents.ts";

/** Runs in a process of its own: a check that blocks its event loop must not block the test's. */
let service: DocumentProcess;
const urls = () => ({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });

beforeAll(async () => {
  service = await runDocumentProcess({ ...urls(), database: testDatabaseName("checking") });
});

afterAll(() => service[Symbol.asyncDispose]());

function add(tenantId: string, type: string, shape: object) {
  const request = { tenantId, type, expectedGeneration: 0, shapeSchemaJson: json(shape) };
  return service.schemas.createSchemaGeneration(request, as("admin"));
}

async function create(tenantId: string, document: object): Promise<string> {
  const documentJson = json({ id: randomUUID(), title: "T", ...document });
  return (await service.documents.createDocument({ tenantId, draft: { documentJson } })).documentId;
}

/**
 * Creates articles of the tenant `neighbour`, one after the other, until `work` has ended. Returns
 * how many were created.
 */
async function createsDuring(work: Promise<unknown>): Promise<number> {
  const under = { way: true };
  const over = work.finally(() => (under.way = false));
  let count = 0;
  for (; under.way; count += 1) await create("neighbour", article());
  await over;
  return count;
}

/** Almost 1 MiB that takes more than 0.1 s to read, where text takes 3 ms: 340,000 empty arrays. */
const heavy = { content: { a: Array.from({ length: 340_000 }, () => []) } };
/**
 * Validates each level of a document twice as often as the level above it, as careless schemas of
 * trees do.
 */
const endless = {
  $defs: {
    node: { properties: { a: { $ref: "#/$defs/node" } }, anyOf: [{ $ref: "#/$defs/twig" }] },
    twig: { properties: { a: { $ref: "#/$defs/node" } } },
  },
  properties: { content: { $ref: "#/$defs/node" } },
};
const deep = { content: JSON.parse(`${'{"a":'.repeat(50)}{}${"}".repeat(50)}`) };

test("another tenant's creates go on while 6 bodies of almost 1 MiB are taken in", { timeout: 60_000 }, async () => {
  await create("neighbour", article());
  const many = Array.from({ length: 6 }, () => create("heavy", { type: "core/article", ...heavy }));
  expect(await createsDuring(Promise.all(many))).toBeGreaterThan(3 * many.length);
});

test("a url of 300,000 colons is refused with a pointer to it", async () => {
  await add("links", "core/newswire", {
    properties: { meta: { properties: { url: { type: "string", format: "url" } } } },
  });
  const colons = create("links", { type: "core/newswire", meta: { url: `http://${":".repeat(300_000)}` } });
  await expect(failure(colons)).resolves.toMatchObject({ code: "InvalidArgument", pointers: ["/meta/url"] });
  await create("links", { type: "core/newswire", meta: { url: "https://a.example/b?c#d" } });
});

test("a document whose check never ends is refused in intake, edits and dry runs, and others are created", async () => {
  await add("endless", "core/newswire", endless);
  await create("endless", { type: "core/newswire", content: { b: "" } });
  const documentId = await create("endless", { type: "core/tag" });
  await add("endless", "core/tag", endless);
  const draft = json({ title: "T", type: "core/newswire", ...deep });
  const attempts = Promise.all([
    failure(create("endless", { type: "core/newswire", ...deep })),
    service.documents.validateDocument({ tenantId: "endless", documentJson: draft }),
    failure(
      service.documents.updateDocument({
        tenantId: "endless",
        documentId,
        expectedVersion: 1n,
        documentJson: json({ title: "T", ...deep }),
      }),
    ),
  ]);
  expect(await createsDuring(attempts)).toBeGreaterThan(20);
  const message = expect.stringContaining("cannot be checked against its type: it takes more than 1000 ms");
  const [created, validated, updated] = await attempts;
  expect(created).toMatchObject({ code: "InvalidArgument", pointers: [""], message });
  expect(validated.violations).toMatchObject([{ pointer: "", message }]);
  expect(updated).toMatchObject({ code: "InvalidArgument", pointers: [""], message });
  await create("endless", { type: "core/newswire", content: { b: "" } });
});

test("a tenant's other transitions go on while one of its publications takes long to check", async () => {
  const type = "core/article";
  const slow = await create("press", { type, meta: { slug: "slow", language: "en" }, ...deep });
  const first = await create("press", article());
  await publish("press", first);
  const request = {
    tenantId: "press",
    type,
    expectedGeneration: 0,
    shapeSchemaJson: json({}),
    completeSchemaJson: json(endless),
  };
  await service.schemas.createSchemaGeneration(request, as("admin"));
  const edit = { tenantId: "press", documentId: slow, expectedVersion: 1n };
  await service.documents.updateDocument({ ...edit, documentJson: json({ title: "T", ...deep }) });
  const others = await Promise.all(
    Array.from({ length: 12 }, () => create("press", { type: "core/tag", meta: { slug: randomUUID() } })),
  );
  let isOver = false;
  const refusal = failure(publish("press", slow, 2n)).finally(() => (isOver = true));
  await Promise.all(others.map((documentId) => publish("press", documentId)));
  expect(isOver).toBe(false);
  await expect(refusal).resolves.toMatchObject({
    code: "FailedPrecondition",
    message: expect.stringContaining("it takes more than 1000 ms"),
  });
});

function publish(tenantId: string, documentId: string, expectedVersion = 1n) {
  const transition = { documentId, name: "publish", expectedVersion };
  return service.documents.transitionDocument({ tenantId, transition }, as("admin"));
}

describe("a large document", () => {
  test("is kept, edited and published with its content unchanged", async () => {
    const text = 'ü\u2028"\\ '.repeat(20_000);
    const document = { ...article({ text }), type: "core/article" };
    await create("large", document);
    const edit = { tenantId: "large", documentId: document.id, expectedVersion: 1n };
    await service.documents.updateDocument({ ...edit, documentJson: json({ ...document, title: "U" }) });
    await publish("large", document.id, 2n);
    const { itemsJson } = await service.published.listPublishedDocuments({
      tenantId: "large",
      type: "core/article",
      limit: 1,
    });
    const [item] = JSON.parse(Buffer.from(itemsJson).toString());
    expect(item).toMatchObject({ title: "U", content: document.content });
  });

  test("that is created again is refused as one that exists with the same content", async () => {
    const document = { ...article({ text: "x".repeat(40_000) }), type: "core/article" };
    await create("large", document);
    const again = await failure(create("large", document));
    expect(again).toMatchObject({ code: "AlreadyExists", message: expect.stringContaining("with the same content") });
  });

  test("is refused with a pointer to its fault", async () => {
    const blocks = [{ type: 1 }, { type: "core/text", data: { html: "x".repeat(40_000) } }];
    const wrong = create("large", { type: "core/article", content: { blocks } });
    await expect(failure(wrong)).resolves.toMatchObject({ pointers: ["/content/blocks/0/type"] });
    const inexact = json({ type: "core/article", title: "T", content: { a: "x".repeat(40_000), b: 1 } });
    const documentJson = Buffer.from(Buffer.from(inexact).toString().replace('"b":1', '"b":9007199254740993'));
    const { violations } = await service.documents.validateDocument({ tenantId: "large", documentJson });
    expect(violations).toMatchObject([{ pointer: "/content/b" }]);
  });
});

describe("a schema", () => {
  const doubling = (levels: number) => {
    const twice = (level: number) => ({ allOf: [{ $ref: `#/$defs/d${level}` }, { $ref: `#/$defs/d${level}` }] });
    const $defs = Object.fromEntries(Array.from({ length: levels }, (_, level) => [`d${level}`, twice(level + 1)]));
    return { $defs: { ...$defs, [`d${levels}`]: {} }, $ref: "#/$defs/d0" };
  };

  test.each([28, 40])("whose references double %i times is refused, naming the limit", async (levels) => {
    const refusal = await failure(add("bounds", "acme/doubling", doubling(levels)));
    expect(refusal).toMatchObject({ code: "InvalidArgument", message: expect.stringContaining("10000 schemas") });
  });

  test("that refers to itself from its members, as a tree does, checks a document to the last leaf", async () => {
    const node = { properties: { name: { type: "string" }, children: { items: { $ref: "#/$defs/node" } } } };
    await add("bounds", "core/newswire", { $defs: { node }, properties: { content: { $ref: "#/$defs/node" } } });
    const content = (leaf: unknown) => ({ children: [{}, { children: [{ name: "a" }, { name: leaf }] }] });
    await create("bounds", { type: "core/newswire", content: content("b") });
    const wrong = failure(create("bounds", { type: "core/newswire", content: content(7) }));
    await expect(wrong).resolves.toMatchObject({ pointers: ["/content/children/1/children/1/name"] });
  });

  test("of 184 KiB that refers 5,000 times to one definition does not hold up another tenant's creates", async () => {
    const large = {
      properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`p${i}`, { type: "string" }])),
    };
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`q${i}`, { $ref: "#/$defs/large" }]),
    );
    const adding = add("bounds", "acme/wide", { $defs: { large }, properties: { content: { properties } } }).catch(
      (error) => error,
    );
    expect(await createsDuring(adding)).toBeGreaterThan(5);
    await create("neighbour", article());
  });
});

test("a service that has checked a document in a thread stops when asked", async () => {
  await using stopping = await runDocumentProcess({ ...urls(), database: testDatabaseName("stopping") });
  const documentJson = json({ id: randomUUID(), type: "core/article", title: "T", ...heavy });
  await stopping.documents.createDocument({ tenantId: "demo", draft: { documentJson } });
  await expect(stopping.stop()).resolves.toBe(0);
});
