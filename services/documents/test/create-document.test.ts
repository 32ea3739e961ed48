import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
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

function create(value: unknown, options: { token?: string; tenantId?: string; headers?: Record<string, string> } = {}) {
  const request = {
    tenantId: options.tenantId ?? tenantId,
    draft: { documentJson: json(value), intakeToken: options.token ?? "" },
  };
  return documents.client.createDocument(request, { headers: options.headers ?? {} });
}

async function stored(documentId: string, tenant = tenantId) {
  const { document } = await documents.client.getDocument({ tenantId: tenant, documentId });
  return { ...document!, json: JSON.parse(Buffer.from(document!.documentJson).toString()) };
}

function heads() {
  return mongo.db(documents.database).collection("heads");
}

const wire = (id: string) => ({
  id,
  type: "core/newswire",
  title: "Quake off Chile",
  meta: { source: "AP", priority: 3 },
  content: { text: "A 6.1 quake …" },
  links: [{ rel: "subject", type: "core/tag", uri: "medtop:20000151" }],
});

describe("on intake", () => {
  test("a document enters as draft, version 1, in canonical form, with its workflow", async () => {
    const id = randomUUID();
    await expect(create({ ...wire(id), id: id.toUpperCase() })).resolves.toMatchObject({ documentId: id });
    const document = await stored(id);
    expect(Buffer.from(document.documentJson).toString()).toBe(
      `{"content":{"text":"A 6.1 quake …"},"id":"${id}",` +
        '"links":[{"rel":"subject","type":"core/tag","uri":"medtop:20000151"}],' +
        '"meta":{"priority":3,"source":"AP","status":"draft","version":1},' +
        '"title":"Quake off Chile","type":"core/newswire"}',
    );
    expect(document).toMatchObject({ status: "draft", version: 1n, workflowId: "editorial", workflowVersion: 1 });
    expect(document.lastPublished).toBeUndefined();
  });

  test("the actor and role of the call's metadata are stored as the document's creator", async () => {
    const id = randomUUID();
    await create(wire(id), { headers: { "vidimus-actor": "key:abc", "vidimus-role": "integrator" } });
    await expect(heads().findOne({ documentId: id })).resolves.toMatchObject({
      createdBy: { actor: "key:abc", role: "integrator" },
      changedBy: { actor: "key:abc", role: "integrator" },
    });
  });

  test("status, version, workflow and tenant that a caller sets are dropped, and other meta and content kept", async () => {
    const id = randomUUID();
    const workflow = { workflowId: "x", workflowVersion: 5 };
    const platformOwned = { status: "usable", version: 99, ...workflow, final: true, cause: "correction" };
    await create({
      ...wire(id),
      tenant: "rival",
      tenantId: "rival",
      tenant_id: 7,
      updated_at: "2026-01-05T10:00:00Z",
      meta: { ...platformOwned, own: { tenant: "kept", final: true }, a: null },
      content: { anything: [1, 2.5, { deep: true }] },
    });
    const { json: document } = await stored(id);
    expect(document.meta).toEqual({ status: "draft", version: 1, own: { tenant: "kept", final: true }, a: null });
    expect(document.content).toEqual({ anything: [1, 2.5, { deep: true }] });
    expect(Object.keys(document)).toEqual(["content", "id", "links", "meta", "title", "type"]);
    expect(await heads().countDocuments({ documentId: id, tenantId: "rival" })).toBe(0);
  });

  const title = { type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text: "Zürich" }] }] };

  test("a rich title is kept for editors as it was sent", async () => {
    const id = randomUUID();
    await create({ id, type: "core/article", title });
    expect((await stored(id)).json.title).toEqual(title);
  });

  test("a rich title is stored in canonical form beside its plain text", async () => {
    const id = randomUUID();
    await create({ id, type: "core/article", title });
    const row = await heads().findOne({ documentId: id });
    expect(row?.["title"].toString("utf8")).toBe('"Zürich"');
    expect(row?.["titleRich"].toString("utf8")).toBe(
      '{"content":[{"content":[{"text":"Zürich","type":"text"}],"type":"paragraph"}],"type":"doc"}',
    );
  });

  test("each create in the wrapped form gets a new UUID from the platform", async () => {
    const { id: _, ...payload } = wire("");
    const body = { version: 1, payload };
    const { documentId } = await create(body);
    expect(documentId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await stored(documentId)).json).toMatchObject({ id: documentId, title: "Quake off Chile" });
    const second = await create(body);
    expect(second.documentId).not.toBe(documentId);
  });

  test("tenant ids in a wrapped form and its payload are ignored", async () => {
    const { id: _, ...payload } = wire("");
    const { documentId } = await create({ version: 1, tenantId: "rival", payload: { ...payload, tenant: "rival" } });
    expect((await stored(documentId)).json).not.toHaveProperty("tenant");
    expect(await heads().countDocuments({ documentId, tenantId: "rival" })).toBe(0);
  });

  test.each(["core/newswire", "core/article", "core/image", "core/audio", "core/tag", "core/publisher-site"])(
    "a tenant that has set up nothing may create a document of type %s with only a title",
    async (type) => {
      const id = randomUUID();
      await create({ id, type, title: "T" }, { tenantId: "anyone" });
      expect((await stored(id, "anyone")).json).toMatchObject({ type, content: {}, links: [] });
    },
  );
});

test("a second create of an id is refused, and the message says whether the content is the same", async () => {
  const id = randomUUID();
  await create(wire(id));
  await expect(failure(create(wire(id)))).resolves.toMatchObject({
    code: "AlreadyExists",
    kind: "already_exists",
    message: `document ${id} already exists with the same content`,
  });
  const reordered = Object.fromEntries(Object.entries(wire(id)).toReversed());
  await expect(failure(create(reordered))).resolves.toMatchObject({
    message: expect.stringContaining("same content"),
  });
  const other = { ...wire(id), title: "Another" };
  await expect(failure(create(other))).resolves.toMatchObject({
    kind: "already_exists",
    message: `document ${id} already exists with other content`,
  });
});

test("a second create of an id leaves the stored document as it was", async () => {
  const id = randomUUID();
  await create(wire(id));
  const before = await heads().findOne({ documentId: id });
  await failure(create({ ...wire(id), title: "Another" }));
  expect(await heads().findOne({ documentId: id })).toEqual(before);
});

test("an id in use is reported before faults of type, members and shape, but after a number out of range", async () => {
  const id = randomUUID();
  await create(wire(id));
  for (const fault of [{ type: "no/such" }, { title: 7 }, { extra: 1 }, { meta: [] }, { meta: { urgency: 12 } }]) {
    await expect(failure(create({ ...wire(id), ...fault }))).resolves.toMatchObject({ kind: "already_exists" });
  }
  const broken = documents.client.createDocument({
    tenantId,
    draft: { documentJson: Buffer.from(`{"id":"${id}","n":1e400}`) },
  });
  await expect(failure(broken)).resolves.toMatchObject({ kind: "invalid" });
});

test("a create that is repeated with its token and content is answered as created, wrapped or not", async () => {
  const id = randomUUID();
  await create(wire(id), { token: "attempt-1" });
  await expect(create(wire(id), { token: "attempt-1" })).resolves.toMatchObject({ documentId: id });
  await expect(failure(create(wire(id), { token: "attempt-2" }))).resolves.toMatchObject({ kind: "already_exists" });
  const changed = { ...wire(id), title: "changed" };
  await expect(failure(create(changed, { token: "attempt-1" }))).resolves.toMatchObject({ kind: "already_exists" });

  const { id: _, ...payload } = wire("");
  const first = await create({ version: 1, payload }, { token: "attempt-3" });
  const second = await create({ version: 1, payload }, { token: "attempt-3" });
  expect(second.documentId).toBe(first.documentId);
});

test("of 64 concurrent creates of one id exactly one succeeds", async () => {
  const id = randomUUID();
  const settled = await Promise.allSettled(
    Array.from({ length: 64 }, (_, index) => create({ ...wire(id), title: `racer ${index}` })),
  );
  const won = settled.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
  expect(won).toHaveLength(1);
  const kinds = settled.flatMap((result) =>
    result.status === "rejected" ? [fromConnectError(result.reason)?.kind] : [],
  );
  expect(new Set(kinds)).toEqual(new Set(["already_exists"]));
  expect((await stored(id)).json.title).toBe(`racer ${won[0]}`);
});

describe("a document is refused", () => {
  const id = randomUUID();
  test.each<[string, unknown, string]>([
    ["a body that is no object", [1], ""],
    ["a missing id", { type: "core/article", title: "T" }, "/id"],
    ["an id that is no UUID", { ...wire(""), id: "7" }, "/id"],
    ["an id that is no string", { ...wire(""), id: 7 }, "/id"],
    ["a missing type", { id, title: "T" }, "/type"],
    ["an unknown type", { id, type: "core/unknown", title: "T" }, "/type"],
    ["a type named like a member of every object", { id, type: "constructor", title: "T" }, "/type"],
    ["a missing title", { id, type: "core/article" }, "/title"],
    ["a title that is null", { ...wire(id), title: null }, "/title"],
    ["a title that is an array", { ...wire(id), title: ["T"] }, "/title"],
    ["a title that is an empty object", { ...wire(id), title: {} }, "/title"],
    ["a title that is an object, but no rich text", { ...wire(id), title: { text: "T" } }, "/title"],
    ["a blank title", { ...wire(id), title: "  " }, "/title"],
    ["meta that is no object", { ...wire(id), meta: [] }, "/meta"],
    ["content that is null", { ...wire(id), content: null }, "/content"],
    ["links that are no array", { ...wire(id), links: {} }, "/links"],
    ["a link without id, uri and url", { ...wire(id), links: [{ rel: "a", type: "b" }] }, "/links/0"],
    ["a link without rel", { ...wire(id), links: [{ type: "b", uri: "c:d" }] }, "/links/0/rel"],
    ["an unknown member", { ...wire(id), "a/b": 1 }, "/a~1b"],
    ["a number for meta.source, which is text", { ...wire(id), meta: { source: 7 } }, "/meta/source"],
    ["a block that is no object", { ...wire(id), content: { blocks: ["text"] } }, "/content/blocks/0"],
    ["a wrapped form of another version", { version: 2, payload: {} }, "/version"],
    ["a wrapped form without version", { payload: {} }, "/version"],
    ["a wrapped form with an id inside", { version: 1, payload: { ...wire(id) } }, "/payload/id"],
    ["a wrapped form with more members", { version: 1, id, payload: {} }, "/id"],
    [
      "a fault inside a wrapped form",
      { version: 1, payload: { type: "core/article", title: "T", meta: 1 } },
      "/payload/meta",
    ],
    ["version without payload", { ...wire(id), version: 1 }, "/version"],
  ])("with a pointer to %s", async (_, body, pointer) => {
    const error = await failure(create(body));
    expect(error).toMatchObject({ code: "InvalidArgument", kind: "invalid" });
    expect(error.pointers).toContain(pointer);
  });

  test("with a pointer to each of its faults", async () => {
    const error = await failure(create({ id, title: 7, meta: 1, extra: 2 }));
    expect(new Set(error.pointers)).toEqual(new Set(["/type", "/title", "/meta", "/extra"]));
  });

  test.each<[string, object]>([
    ["a member with a name of 200 KB", { ["é".repeat(100_000)]: 1 }],
    ["a type of 200 KB", { type: "x".repeat(200_000) }],
    ["20,000 unknown members", Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]))],
    ["20,000 links without rel", { links: Array.from({ length: 20_000 }, () => ({})) }],
  ])("with a message and pointers of less than 12,000 bytes, even for %s", async (_, fault) => {
    const error = await failure(create({ ...wire(id), ...fault }));
    expect(error).toMatchObject({ code: "InvalidArgument", kind: "invalid" });
    expect(error.pointers.length).toBeGreaterThan(0);
    expect(Buffer.byteLength(error.message + error.pointers.join(""))).toBeLessThan(12_000);
  });

  test("and is not stored", async () => {
    await expect(failure(create({ ...wire(id), meta: [] }))).resolves.toMatchObject({ kind: "invalid" });
    expect(await heads().countDocuments({ documentId: id })).toBe(0);
  });

  test("for a malformed tenant id", async () => {
    await expect(failure(create(wire(id), { tenantId: "Demo" }))).resolves.toMatchObject({ kind: "invalid" });
  });

  test("as too_large above 1 MiB, but not at exactly 1 MiB", async () => {
    const base = wire(randomUUID());
    const left = 1024 * 1024 - json({ ...base, content: { text: "" } }).length;
    const over = { ...base, content: { text: "x".repeat(left + 1) } };
    await expect(failure(create(over))).resolves.toMatchObject({ kind: "too_large" });
    await expect(create({ ...base, content: { text: "x".repeat(left) } })).resolves.toMatchObject({
      documentId: base.id,
    });
  });
});
