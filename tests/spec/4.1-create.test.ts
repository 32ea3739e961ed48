/** Section 4.1: `POST /v1/documents`. 8-limits tests its answers with 429. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal, success } from "../support/answers.ts";
import { article, as, type Newsroom } from "../support/newsroom.ts";
import { stored, storedIds } from "../support/stored.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;
let rival: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
  rival = await tenants.create();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

type Body = object | string | Uint8Array<ArrayBuffer>;

function post(body: Body, headers: Record<string, string> = {}, to: Newsroom = room): Promise<Response> {
  const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return to.request("/v1/documents", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: bytes,
  });
}

const wire = (overrides: object = {}) => ({ id: randomUUID(), type: "core/newswire", title: "Ferry", ...overrides });

/** `null` when the document is not stored. */
const storedOrNull = (room: Newsroom, id: string) => stored(room, id).catch(() => null);

describe("4.1 status 201", () => {
  test("a valid document is answered with its id and nothing else", async () => {
    const draft = article();
    const answer = await post(draft);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await success(answer, 201)).toEqual({ id: draft.id });
  });

  test("everything that was sent is stored as it was sent", async () => {
    const draft = article({
      meta: { slug: "a-b", priority: 3, origin: "wire", source: "example", deep: { list: [1, 0.1, null, true] } },
      content: { blocks: [], own: { "": "", ключ: "😀 \u2028" } },
    });
    await success(post(draft), 201);
    const { head } = await stored(room, draft.id);
    const { status, version, ...meta } = head.meta;
    expect({ ...head, meta }).toEqual(draft);
    expect({ status, version }).toEqual({ status: "draft", version: 1 });
  });

  test.each(["core/newswire", "core/article", "core/image", "core/audio", "core/tag", "core/publisher-site"])(
    "a document of the built-in type %s needs only id, type and title",
    async (type) => {
      const id = randomUUID();
      expect(await success(post({ id, type, title: "t" }), 201)).toEqual({ id });
      expect((await stored(room, id)).head).toMatchObject({ type, content: {}, links: [] });
    },
  );

  test.each(["00000000-0000-0000-0000-000000000000", "018f3c2a-9b7e-7d10-a3c4-5e6f70819200"])(
    "the UUID %s is taken as an id",
    async (id) => {
      expect(await success(post(wire({ id })), 201)).toEqual({ id });
    },
  );

  test("an id in upper case is kept and answered in lower case", async () => {
    const id = "018f3c2a-9b7e-7d10-a3c4-5e6f708192a3";
    expect(await success(post(wire({ id: id.toUpperCase() })), 201)).toEqual({ id });
    expect((await stored(room, id)).head.id).toBe(id);
  });

  const richTitle = { type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text: "No boat" }] }] };

  test("a rich text title is stored as it was sent", async () => {
    const draft = article({ title: richTitle });
    await success(post(draft), 201);
    expect((await stored(room, draft.id)).head.title).toEqual(richTitle);
  });

  test("a rich text title is read as its text once the document is published", async () => {
    const draft = article({ title: richTitle });
    await success(post(draft), 201);
    await room.transition(draft.id, "publish");
    const answer = await room.request("/v1/documents?type=core/article");
    const { data } = (await answer.json()) as { data: { items: { id: string; title: unknown }[] } };
    expect(data.items.find(({ id }) => id === draft.id)?.title).toBe("No boat");
  });

  test("of duplicate members the last one counts", async () => {
    const id = randomUUID();
    await success(post(`{"id":"${id}","type":"core/newswire","title":"a","title":"b"}`), 201);
    expect((await stored(room, id)).head.title).toBe("b");
  });

  test.each(["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'])(
    "Content-Type %s is accepted as JSON",
    async (type) => {
      await success(post(wire(), { "content-type": type }), 201);
    },
  );

  test("a body of exactly 1 MiB is accepted", async () => {
    const draft = wire({ content: { text: "" } });
    draft.title = "x".repeat(1024 * 1024 - JSON.stringify(draft).length + draft.title.length);
    expect(JSON.stringify(draft)).toHaveLength(1024 * 1024);
    await success(post(draft), 201);
  });
});

describe("4.1 rule 1: the id makes a retry safe", () => {
  test("a second create with the same id answers 409 and leaves the first untouched", async () => {
    const draft = article();
    await success(post(draft), 201);
    const before = await stored(room, draft.id);
    for (const repeat of [draft, { ...draft, title: "Other" }, wire({ id: draft.id.toUpperCase() })]) {
      const { message } = await refusal(post(repeat), 409, "CONFLICT");
      expect(message).toContain(draft.id);
      expect(message).toContain("already exists");
    }
    const { document } = await stored(room, draft.id);
    expect(document).toEqual(before.document);
    const { entries } = await room.documents.listDocumentHistory(
      { tenantId: room.tenantId, documentId: draft.id },
      as("editor"),
    );
    expect(entries).toHaveLength(1);
  });

  test("message and details distinguish a retry of the same content from other content under the id", async () => {
    const draft = wire();
    await success(post(draft), 201);
    const same = await refusal(post(draft), 409, "CONFLICT");
    const other = await refusal(post({ ...draft, title: "Other" }), 409, "CONFLICT");
    expect(same.message).toContain("with the same content");
    expect(other.message).toContain("with other content");
    expect(same.details).toEqual([{ pointer: "/id", message: expect.any(String), reason: "same_content" }]);
    expect(other.details).toEqual([{ pointer: "/id", message: expect.any(String), reason: "other_content" }]);
  });

  test("a second create does not unpublish what was published meanwhile", async () => {
    const id = await room.push();
    await room.transition(id, "publish");
    await refusal(post(article({ id })), 409, "CONFLICT");
    expect((await stored(room, id)).document).toMatchObject({ status: "usable", lastPublished: { status: "usable" } });
  });

  test("an id that exists is answered with 409 even when type and title are invalid", async () => {
    const id = await room.push();
    await refusal(post({ id, type: "core/unheard-of", title: 7 }), 409, "CONFLICT");
    await refusal(post(article({ id: `${id}x` })), 400, "INVALID_PAYLOAD");
  });

  test("of 64 clients that push the same document at once, one gets 201 and 63 get 409", async () => {
    const draft = article();
    const statuses = await Promise.all(Array.from({ length: 64 }, async () => (await post(draft)).status));
    const count = (status: number) => statuses.filter((answered) => answered === status).length;
    expect([count(201), count(409)]).toEqual([1, 63]);
    expect((await stored(room, draft.id)).document.version).toBe(1n);
  });

  test("of 64 different documents pushed at once under one id, the one answered 201 is stored", async () => {
    const id = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 64 }, async (_, client) => (await post(wire({ id, title: `client ${client}` }))).status),
    );
    expect(answers.filter((status) => status === 409)).toHaveLength(63);
    expect((await stored(room, id)).head.title).toBe(`client ${answers.indexOf(201)}`);
  });

  test("the id is unique in its tenant only: another tenant may use it, for something else", async () => {
    const id = await room.push();
    const before = await stored(room, id);
    await expect(stored(rival, id)).rejects.toThrow(/not_found/);
    await success(post(wire({ id, title: "Theirs" }), {}, rival), 201);
    await refusal(post(wire({ id, title: "Theirs" }), {}, rival), 409, "CONFLICT");
    expect((await stored(room, id)).document).toEqual(before.document);
    expect((await stored(rival, id)).head.title).toBe("Theirs");
  });
});

/** Values as JSON, for titles, each with itself. */
const named = (values: readonly unknown[]) =>
  values.map((value) => [value === undefined ? "that is left out" : JSON.stringify(value), value] as const);

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const withContent = (json: string, id: string = randomUUID()) =>
  `{"id":"${id}","type":"core/newswire","title":"t","content":${json}}`;

describe("4.1 rule 2: 400 INVALID_PAYLOAD for", () => {
  const uuid = randomUUID();
  const ids = [
    undefined,
    null,
    "",
    7,
    {},
    "1",
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    uuid.replaceAll("-", ""),
    uuid.slice(1),
    `${uuid}0`,
    ` ${uuid}`,
    `${uuid}\n`,
    uuid.replace(/^./, "g"),
    uuid.replace(/^./, "\u0661"),
  ];
  test.each(named(ids))("an id %s", async (_, id) => {
    const { details } = await refusal(post({ ...wire(), id }), 400, "INVALID_PAYLOAD");
    expect(details).toEqual([expect.objectContaining({ pointer: "/id" })]);
  });

  const types = [undefined, null, "", 7, "core/unheard-of", "article", "core/article ", "CORE/ARTICLE", "__proto__"];
  test.each(named(types))("a type %s", async (_, type) => {
    const draft = { ...wire(), type };
    const { details } = await refusal(post(draft), 400, "INVALID_PAYLOAD");
    expect(details).toEqual([expect.objectContaining({ pointer: "/type" })]);
    expect(await storedOrNull(room, draft.id)).toBeNull();
  });

  const titles = [undefined, null, "", " ", 7, true, [], ["x"], {}, { text: "x" }, { content: [] }];
  test.each(named(titles))("a title %s", async (_, title) => {
    const { details } = await refusal(post({ ...wire(), title }), 400, "INVALID_PAYLOAD");
    expect(details).toEqual([expect.objectContaining({ pointer: "/title" })]);
  });

  test.each([
    [{ meta: [] }, "/meta"],
    [{ meta: null }, "/meta"],
    [{ content: "text" }, "/content"],
    [{ links: {} }, "/links"],
    [{ meta: { priority: "high" } }, "/meta/priority"],
    [{ meta: { urgency: 10 } }, "/meta/urgency"],
    [{ meta: { issuedAt: "yesterday" } }, "/meta/issuedAt"],
    [{ content: { blocks: {} } }, "/content/blocks"],
    [{ links: [{ rel: "subject" }] }, "/links/0"],
    [{ links: [{ rel: "subject", type: "core/tag" }] }, "/links/0"],
    [{ unknown: 1 }, "/unknown"],
    [{ constructor: 1 }, "/constructor"],
  ])("members %j, with a pointer to the fault, and nothing is stored", async (fault, pointer) => {
    const draft = wire(fault);
    const { message, details } = await refusal(post(draft), 400, "INVALID_PAYLOAD");
    expect(message).toContain(pointer);
    expect(details?.map((detail) => detail.pointer?.slice(0, pointer.length))).toContain(pointer);
    expect(await storedOrNull(room, draft.id)).toBeNull();
  });

  test.each(["", " ", "{", "null", "[]", '"text"', "7", '{"id":}', "{'id':1}", '{"id":"a"} x', "NaN", "\u0000"])(
    "the body %j",
    async (body) => {
      await refusal(post(body), 400, "INVALID_PAYLOAD");
    },
  );

  test("bytes that are not UTF-8", async () => {
    const text = Buffer.from(JSON.stringify(wire({ title: "?" })));
    text[text.indexOf("?")] = 0xff;
    await refusal(post(new Uint8Array(text)), 400, "INVALID_PAYLOAD");
  });

  test.each([
    ["a member named __proto__", '{"__proto__":{"admin":true}}'],
    ["half of a surrogate pair", String.raw`{"a":"\ud800"}`],
    ["half of a surrogate pair in a name", String.raw`{"\udc00":1}`],
    ["an integer that a double cannot hold", '{"a":9007199254740993}'],
    ["a number beyond every double", '{"a":1e400}'],
    ["65 levels, the document's own among them", nested(64)],
    ["20,000 levels", nested(20_000)],
  ])("JSON that cannot be kept as it is: %s", async (_, json) => {
    const id = randomUUID();
    await refusal(post(withContent(json, id)), 400, "INVALID_PAYLOAD");
    expect(await storedOrNull(room, id)).toBeNull();
  });
});

test("4.1 rule 2: JSON at the limits of what can be kept is taken, and comes back the same", async () => {
  for (const json of [
    nested(63),
    '{"a":9007199254740992}',
    '{"a":[1e308,-0.5,5e-324]}',
    String.raw`{"a":"\ud83d\ude00"}`,
  ]) {
    const id = randomUUID();
    await success(post(withContent(json, id)), 201);
    expect((await stored(room, id)).head.content).toEqual(JSON.parse(json));
  }
});

describe("4.1 rule 3 and 2.1: fields stamped by the platform", () => {
  test("status, version, workflow and updated_at that a caller claims are ignored", async () => {
    const claimed = { status: "usable", version: 99, workflowId: "mine", workflowVersion: 7 };
    const draft = article({ meta: { ...claimed, slug: "s" }, updated_at: "1999-01-01T00:00:00Z" });
    await success(post(draft), 201);
    const { document, head } = await stored(room, draft.id);
    expect(head.meta).toEqual({ slug: "s", status: "draft", version: 1 });
    expect(head).not.toHaveProperty("updated_at");
    expect(document).toMatchObject({ status: "draft", workflowId: "editorial", workflowVersion: 1 });
    expect(document.lastPublished).toBeUndefined();
  });
});

describe("4.1: the wrapped form", () => {
  const payload = { type: "core/newswire", title: "Wrapped", meta: { priority: 2 }, content: { text: "x" } };

  test("{version, payload} is accepted: the platform supplies id, status and workflow, and answers the id", async () => {
    const { id } = await success<{ id: string }>(post({ version: 1, payload }), 201);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const { document, head } = await stored(room, id);
    const meta = { priority: 2, status: "draft", version: 1 };
    expect(head).toEqual({ id, ...payload, meta, links: [] });
    expect(document.workflowId).toBe("editorial");
  });

  test("the same payload twice makes two documents", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => success<{ id: string }>(post({ version: 1, payload }), 201)));
    expect(one!.id).not.toBe(two!.id);
    for (const { id } of [one!, two!]) expect((await stored(room, id)).head.title).toBe(payload.title);
  });

  test.each([
    ["version 2", { version: 2, payload }, "/version"],
    ["version 0", { version: 0, payload }, "/version"],
    ["version as text", { version: "1", payload }, "/version"],
    ["no version", { payload }, "/version"],
    ["payload not an object", { version: 1, payload: [] }, "/payload"],
    ["payload null", { version: 1, payload: null }, "/payload"],
    ["an id in the payload", { version: 1, payload: { ...payload, id: randomUUID() } }, "/payload/id"],
    ["an id beside the payload", { version: 1, id: randomUUID(), payload }, "/id"],
    ["an unknown member beside the payload", { version: 1, payload, extra: 1 }, "/extra"],
    ["a payload without title", { version: 1, payload: { type: "core/newswire" } }, "/payload/title"],
    ["a payload of unknown type", { version: 1, payload: { ...payload, type: "x" } }, "/payload/type"],
    [
      "a schema failure in the payload",
      { version: 1, payload: { ...payload, meta: { priority: "" } } },
      "/payload/meta/priority",
    ],
  ])("%s is 400 INVALID_PAYLOAD, with a pointer to the fault", async (_, body, pointer) => {
    const { details } = await refusal(post(body), 400, "INVALID_PAYLOAD");
    expect(details?.map((detail) => detail.pointer)).toContain(pointer);
  });
});

describe("1 and 5.2: a tenant id in a body is ignored", () => {
  const spellings = ["tenant", "tenantId", "tenant_id"];

  test.each(spellings)("%s beside the members of a document", async (name) => {
    const draft = article({ [name]: rival.tenantId });
    await success(post(draft), 201);
    expect((await stored(room, draft.id)).head).not.toHaveProperty(name);
    expect(await storedIds(rival)).not.toContain(draft.id);
  });

  test.each(spellings)("%s beside a payload and in it", async (name) => {
    const claim = { [name]: { id: rival.tenantId } };
    const payload = { type: "core/newswire", title: "Wrapped", ...claim };
    const { id } = await success<{ id: string }>(post({ version: 1, payload, ...claim }), 201);
    expect((await stored(room, id)).head).not.toHaveProperty(name);
    expect(await storedIds(rival)).not.toContain(id);
  });

  test("unless it stands inside meta or content, where it is stored", async () => {
    const own = Object.fromEntries(spellings.map((name) => [name, rival.tenantId]));
    const draft = article({ meta: own, content: own });
    await success(post(draft), 201);
    const { head } = await stored(room, draft.id);
    expect(head.meta).toMatchObject(own);
    expect(head.content).toEqual(own);
    expect(await storedIds(rival)).not.toContain(draft.id);
  });
});
