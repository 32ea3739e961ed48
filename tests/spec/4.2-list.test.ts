/** Section 4.2: `GET /v1/documents`. 8-limits tests its answer with 429. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Item, type Page, refusal, success } from "../support/answers.ts";
import { article, type Newsroom } from "../support/newsroom.ts";
import { transitionAll } from "../support/stored.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

type Query = Record<string, string>;

function get(room: Newsroom, query: Query = {}, headers: Record<string, string> = {}): Promise<Response> {
  return room.request(`/v1/documents?${new URLSearchParams({ type: "core/article", ...query })}`, { headers });
}

const pageOf = (room: Newsroom, query: Query = {}) => success<Page>(get(room, query), 200);

const idsOf = ({ items }: Page) => items.map(({ id }) => id);

/** Follows nextCursor until hasMore is false. */
async function walk(room: Newsroom, query: Query = {}): Promise<Page[]> {
  const pages = [await pageOf(room, query)];
  for (let page = pages[0]!; page.hasMore; pages.push(page)) {
    page = await pageOf(room, { ...query, cursor: page.nextCursor });
    expect(page.items.length).toBeGreaterThan(0);
  }
  return pages;
}

/** Pushes articles and publishes them 64 a transaction, so that many have the same updated_at. */
async function publishMany(room: Newsroom, count: number, overrides: () => object = () => ({})): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: count }, () => room.push(overrides())));
  await transitionAll(room, ids, "publish");
  return ids;
}

/** The order of rule 1: by updated_at, then id, both descending. */
const byRule = (a: Item, b: Item) => (a.updated_at + a.id < b.updated_at + b.id ? 1 : -1);

/** The members that make a document of each type publishable. */
const publishable: Record<string, object> = {
  "core/article": {},
  "core/image": { meta: { credit: "c" }, content: { alt: "a", renditions: [{ url: "https://example.org/i.jpg" }] } },
  "core/audio": { meta: {}, content: { streams: [{ url: "https://example.org/a.mp3" }], durationMs: 1 } },
  "core/tag": { meta: { slug: "tag" }, content: {} },
  "core/publisher-site": { meta: { slug: "site", hosts: ["example.org"], language: "en" }, content: {} },
};

describe("4.2: published content only", () => {
  test("a tenant without publications reads no items, an empty nextCursor, and hasMore false", async () => {
    const room = await tenants.create();
    expect(await pageOf(room)).toEqual({ items: [], nextCursor: "", hasMore: false });
  });

  test("a list of each of the five readable types has only documents of that type, never a newswire", async () => {
    const room = await tenants.create();
    const ids: Record<string, string> = {};
    for (const [type, parts] of Object.entries({ ...publishable, "core/newswire": { meta: {}, content: {} } })) {
      ids[type] = await room.push({ type, ...parts });
      await room.transition(ids[type], "publish");
    }
    for (const type of Object.keys(publishable)) {
      const { items } = await pageOf(room, { type });
      expect(items.map((item) => [item.id, item.type])).toEqual([[ids[type], type]]);
    }
  });

  test("another tenant's publications are not shown, even with a cursor from that tenant's list", async () => {
    const [room, rival] = [await tenants.create(), await tenants.create()];
    await publishMany(room, 3);
    const [theirs] = await publishMany(rival, 1);
    const { nextCursor } = await pageOf(room, { limit: "1" });
    expect(idsOf(await pageOf(rival))).toEqual([theirs]);
    for (const { id } of (await pageOf(rival, { cursor: nextCursor })).items) expect(id).toBe(theirs);
  });
});

describe("2.1: the read projection", () => {
  test("an item has exactly id, type, title, meta, content and updated_at, as they were published", async () => {
    const room = await tenants.create();
    const draft = article();
    const id = await room.push(draft);
    const { updatedAt } = await room.transition(id, "publish");
    const { items } = await pageOf(room);
    const at = new Date(Number(updatedAt!.seconds) * 1000 + updatedAt!.nanos / 1e6).toISOString();
    expect(items).toEqual([
      {
        id,
        type: "core/article",
        title: draft["title"],
        meta: { ...(draft["meta"] as object), status: "usable", version: 1 },
        content: draft["content"],
        updated_at: at,
      },
    ]);
  });

  test("4.2 rule 5: an answer has the content as it was pushed, without links, sequence or signature", async () => {
    const room = await tenants.create();
    const content = { blocks: [{ type: "b" }], z: 1, a: { "\u2028": "😀", n: [0.1, 1e21, -0] } };
    await publishMany(room, 1, () => ({ content }));
    const answer = await get(room);
    const text = await answer.text();
    expect((JSON.parse(text) as { data: Page }).data.items[0]!.content).toEqual({
      ...content,
      a: { ...content.a, n: [0.1, 1e21, 0] },
    });
    expect(text).not.toMatch(/signature|statement|keyId|"links"|sequence/);
  });
});

describe("4.2 rules 1 to 3: keyset paging", () => {
  test("pages of seven sizes show every document once, newest first, ties by id descending", async () => {
    const room = await tenants.create();
    const ids = [...(await publishMany(room, 64)), ...(await publishMany(room, 20)), ...(await publishMany(room, 1))];
    const whole = await pageOf(room, { limit: "200" });
    expect(whole.items).toHaveLength(ids.length);
    expect(whole.hasMore).toBe(false);
    expect(whole.items).toEqual(whole.items.toSorted(byRule));
    const ticks = Map.groupBy(whole.items, (item) => item.updated_at);
    expect(Math.max(...Array.from(ticks.values(), (tied) => tied.length))).toBeGreaterThan(20);
    expect(new Set(idsOf(whole))).toEqual(new Set(ids));
    for (const limit of [1, 7, 17, 84, 85, 86]) {
      const pages = await walk(room, { limit: String(limit) });
      expect(pages.flatMap(({ items }) => items)).toEqual(whole.items);
      expect(pages.map(({ items }) => items.length)).toEqual([
        ...Array.from({ length: pages.length - 1 }, () => limit),
        ids.length - limit * (pages.length - 1),
      ]);
    }
  });

  test("a page that ends exactly with the last document has hasMore false, and its cursor finds nothing", async () => {
    const room = await tenants.create();
    await publishMany(room, 2);
    const page = await pageOf(room, { limit: "2" });
    expect(page).toMatchObject({ hasMore: false, nextCursor: expect.stringMatching(/^[\w-]+$/) as string });
    expect(await pageOf(room, { limit: "2", cursor: page.nextCursor })).toEqual({
      items: [],
      nextCursor: "",
      hasMore: false,
    });
  });

  test("a walk during which documents are published shows each earlier one once, and no later one", async () => {
    const room = await tenants.create();
    const ids = await publishMany(room, 10);
    const first = await pageOf(room, { limit: "4" });
    await publishMany(room, 3);
    const second = await pageOf(room, { limit: "4", cursor: first.nextCursor });
    const third = await pageOf(room, { limit: "4", cursor: second.nextCursor });
    expect(third.hasMore).toBe(false);
    const seen = [first, second, third].flatMap(idsOf);
    expect(seen).toHaveLength(10);
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  test("a page of 200 documents of 100 KB ends early with hasMore, and the pages after it have the rest", async () => {
    const room = await tenants.create();
    const text = "x".repeat(100_000);
    const ids = [];
    for (let batch = 0; batch < 10; batch += 1) {
      const content = { blocks: [{ type: "b" }], text };
      ids.push(...(await publishMany(room, 20, () => ({ content }))));
    }
    const pages = await walk(room, { limit: "200" });
    expect(pages.length).toBeGreaterThan(1);
    expect(pages[0]!.hasMore).toBe(true);
    const items = pages.flatMap((page) => page.items);
    expect(items).toHaveLength(200);
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set(ids));
    expect(items.map(({ id }) => id)).toEqual(items.toSorted(byRule).map(({ id }) => id));
    expect(items.every(({ content }) => content["text"] === text)).toBe(true);
  });
});

describe("4.2 rule 4: catching up with updatedSince", () => {
  test("the updated_at of a document finds it, and a time one millisecond later does not", async () => {
    const room = await tenants.create();
    const [old] = await publishMany(room, 1);
    const [young] = await publishMany(room, 1);
    const { items } = await pageOf(room);
    const at = Date.parse(items[0]!.updated_at);
    const since = (ms: number) => pageOf(room, { updatedSince: new Date(ms).toISOString() }).then(idsOf);
    expect(await since(at)).toEqual([young]);
    expect(await since(at + 1)).toEqual([]);
    expect(await since(Date.parse(items[1]!.updated_at))).toEqual([young, old]);
  });

  test("the newest updated_at seen so far finds a document that is then withheld and published again", async () => {
    const room = await tenants.create();
    const [first] = await publishMany(room, 3);
    const lastSeen = (await pageOf(room)).items[0]!.updated_at;
    await room.transition(first!, "withhold");
    await room.transition(first!, "publish");
    const { items } = await pageOf(room, { updatedSince: lastSeen });
    expect(items[0]!.id).toBe(first);
    expect(items[0]!.updated_at > lastSeen).toBe(true);
  });

  test("a reader who goes on from the last updated_at misses none of 48 documents published concurrently", async () => {
    const room = await tenants.create();
    const ids = await Promise.all(Array.from({ length: 48 }, () => room.push()));
    const seen = new Set<string>();
    let since = new Date(0).toISOString();
    const read = async () => {
      for (const page of await walk(room, { updatedSince: since, limit: "5" })) {
        for (const item of page.items) {
          seen.add(item.id);
          if (item.updated_at > since) since = item.updated_at;
        }
      }
    };
    const left = new Set(ids);
    const publishing = ids.map((id) => room.transition(id, "publish").finally(() => left.delete(id)));
    while (left.size > 0) await read();
    await Promise.all(publishing);
    await read();
    expect(seen).toEqual(new Set(ids));
  });

  test("pages by cursor with updatedSince show only documents from that time on", async () => {
    const room = await tenants.create();
    await publishMany(room, 1);
    const [first] = await publishMany(room, 1);
    const since = (await pageOf(room)).items[0]!.updated_at;
    const [one] = await publishMany(room, 1);
    const [two] = await publishMany(room, 1);
    const pages = await walk(room, { updatedSince: since, limit: "1" });
    expect(pages.flatMap(idsOf)).toEqual([two, one, first]);
  });
});

describe("4.2 query parameters", () => {
  let room: Newsroom;
  let ids: string[];

  beforeAll(async () => {
    room = await tenants.create();
    ids = await publishMany(room, 51);
  });

  const refused = async (query: string) => {
    const answer = room.request(`/v1/documents?${query}`);
    return (await refusal(answer, 400, "INVALID_QUERY")).message;
  };

  test.each(["", "core/newswire", "article", "CORE/ARTICLE", "core/article,core/tag", "core/article%20", "__proto__"])(
    "type=%s is refused, and the message names type",
    async (type) => {
      expect(await refused(`type=${type}`)).toContain('"type"');
    },
  );

  test("type is required", async () => {
    expect(await refused("")).toContain('"type"');
    expect(await refused("limit=5")).toContain('"type"');
  });

  test.each(["draft", "withheld", "cancelled", "USABLE", "usable,draft", "", "*"])(
    "status=%s is refused",
    async (status) => {
      expect(await refused(`type=core/article&status=${status}`)).toContain('"status"');
    },
  );

  test("status=usable changes nothing", async () => {
    expect(await pageOf(room, { status: "usable" })).toEqual(await pageOf(room));
  });

  test("limit is 50 by default", async () => {
    const page = await pageOf(room);
    expect(page.items).toHaveLength(50);
    expect(page.hasMore).toBe(true);
  });

  test.each([1, 9, 10, 51, 99, 100, 199, 200])("limit=%i shows that many documents, or all 51", async (limit) => {
    expect((await pageOf(room, { limit: String(limit) })).items).toHaveLength(Math.min(limit, ids.length));
  });

  test.each(
    "0 201 -1 1000 1e2 1e1 0x10 Infinity NaN 1e309 007 5.0 5.5 +5 %205 5%20 five null ٣ 5%0A".split(" ").concat(""),
  )("limit=%s is refused", async (limit) => {
    expect(await refused(`type=core/article&limit=${limit}`)).toContain('"limit"');
  });

  test.each([
    "2020-01-01T00:00:00Z",
    "2020-01-01T00:00:00.000Z",
    "2020-01-01T00:00:00.123456789Z",
    "2020-01-01T00:00:00%2B02:00",
    "2020-01-01T00:00:00+02:00",
    "2020-01-01T00:00:00-0330",
    "2020-01-01T00:00",
    "2020-01-01",
    "20200101T000000Z",
    "2016-12-31T23:59:60Z",
  ])("updatedSince=%s is accepted", async (since) => {
    const answer = room.request(`/v1/documents?type=core/article&limit=200&updatedSince=${since}`);
    expect((await success<Page>(answer, 200)).items).toHaveLength(ids.length);
  });

  test.each([
    "",
    "yesterday",
    "1763718000",
    "1763718000000",
    "2026-02-30T00:00:00Z",
    "2026-13-01",
    "2026-01-01T24:01:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T12:59:60Z",
    "Sat, 21 Nov 2026 09:30:00 GMT",
    "21.11.2026",
    "2026-01-01T00:00:00Z Z",
    "2026-01-01T00:00:00%2B2",
  ])("updatedSince=%s is refused", async (since) => {
    expect(await refused(`type=core/article&updatedSince=${since}`)).toContain('"updatedSince"');
  });

  test("an updatedSince at +02:00 is compared as the UTC time two hours before", async () => {
    const at = (await pageOf(room)).items[0]!.updated_at;
    const shifted = new Date(Date.parse(at) + 2 * 3_600_000).toISOString().replace("Z", "+02:00");
    expect((await pageOf(room, { updatedSince: shifted })).items[0]!.updated_at).toBe(at);
    const later = new Date(Date.parse(shifted.replace("+02:00", "Z")) + 1).toISOString().replace("Z", "+02:00");
    expect((await pageOf(room, { updatedSince: later })).items).toEqual([]);
  });

  const malformed = [
    "",
    "x",
    "%00",
    "null",
    "AAAA",
    "====",
    "W10",
    "0",
    "../..",
    "%F0%9F%98%80",
    encodeURIComponent('{"updated_at":"2026"}'),
  ].map((cursor) => [JSON.stringify(cursor), cursor] as const);

  test.each([...malformed, ["4,000 letters", "A".repeat(4_000)] as const])(
    "a malformed cursor (%s) is answered with the first page",
    async (_, cursor) => {
      const answer = room.request(`/v1/documents?type=core/article&limit=3&cursor=${cursor}`);
      expect(await success<Page>(answer, 200)).toEqual(await pageOf(room, { limit: "3" }));
    },
  );

  test("a cursor that was cut or lengthened is answered with the first page", async () => {
    const { nextCursor } = await pageOf(room, { limit: "3" });
    for (const cursor of [nextCursor.slice(0, -4), `${nextCursor}AAAA`, `A${nextCursor}`]) {
      expect(idsOf(await pageOf(room, { limit: "3", cursor }))).toEqual(idsOf(await pageOf(room, { limit: "3" })));
    }
  });

  test("a cursor has 1 to 128 characters, none of which a URL must escape", async () => {
    expect((await pageOf(room, { limit: "1" })).nextCursor).toMatch(/^[\w-]{1,128}$/);
  });

  test("a cursor names neither tenant nor document type", async () => {
    const { nextCursor } = await pageOf(room, { limit: "1" });
    expect(Buffer.from(nextCursor, "base64url").toString("latin1")).not.toMatch(new RegExp(`${room.tenantId}|article`));
  });

  test.each([
    "foo=1",
    "Type=core/tag",
    "updatedsince=2026-11-21",
    "__proto__=1",
    "tenant=demo",
    "tenantId=demo",
    "offset=5",
    "limit[]=5",
  ])("an unknown parameter (%s) is refused, and the message names it", async (extra) => {
    expect(await refused(`type=core/article&${extra}`)).toContain(`"${extra.split("=")[0]}"`);
  });

  test.each(["type=core/article", "limit=5&limit=6", "cursor=a&cursor=b", "status=usable&status=usable"])(
    "a repeated parameter (%s) is refused, and the message names it",
    async (extra) => {
      expect(await refused(`type=core/article&${extra}`)).toContain(`"${extra.split("=")[0]}"`);
    },
  );
});

describe("caching", () => {
  async function fresh(room: Newsroom): Promise<string> {
    const answer = await get(room);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    await answer.arrayBuffer();
    return answer.headers.get("etag")!;
  }

  async function conditional(room: Newsroom, tag: string) {
    const answer = await get(room, {}, { "if-none-match": tag });
    return { status: answer.status, etag: answer.headers.get("etag"), text: await answer.text() };
  }

  test("If-None-Match may name the ETag without W/, name it in a list, or be *", async () => {
    const room = await tenants.create();
    await publishMany(room, 1);
    const held = await fresh(room);
    expect(held).toMatch(/^W\/"/);
    for (const tag of [held, `"x", ${held}`, held.replace("W/", ""), "*"]) {
      expect(await conditional(room, tag)).toEqual({ status: 304, etag: held, text: "" });
    }
    for (const tag of ['"other"', '"a,*,b"', `"a,${held},b"`]) {
      expect((await conditional(room, tag)).status).toBe(200);
    }
  });

  test("a list is 304 until a document of its type is published or withheld", async () => {
    const room = await tenants.create();
    const [id] = await publishMany(room, 1);
    const held = await fresh(room);
    expect((await conditional(room, held)).status).toBe(304);
    await room.push();
    expect((await conditional(room, held)).status).toBe(304);
    const tag = await room.push({ type: "core/tag", ...publishable["core/tag"] });
    await room.transition(tag, "publish");
    expect((await conditional(room, held)).status).toBe(304);

    await publishMany(room, 1);
    expect(await conditional(room, held)).toMatchObject({ status: 200, text: expect.stringContaining(id!) as string });
    const second = await fresh(room);
    await room.transition(id!, "withhold");
    expect((await conditional(room, second)).status).toBe(200);
  });

  test("an ETag is not valid for another query or another tenant", async () => {
    const [room, rival] = [await tenants.create(), await tenants.create()];
    await publishMany(room, 3);
    await publishMany(rival, 3);
    const etag = (await get(room)).headers.get("etag")!;
    for (const query of [{ limit: "1" }, { type: "core/tag" }, { updatedSince: "2020-01-01" }] as Query[]) {
      expect((await get(room, query, { "if-none-match": etag })).status).toBe(200);
    }
    expect((await get(rival, {}, { "if-none-match": etag })).status).toBe(200);
  });

  test("HEAD answers the ETag, Content-Type and Cache-Control of GET without the body", async () => {
    const room = await tenants.create();
    await publishMany(room, 1);
    const path = "/v1/documents?type=core/article";
    const [head, full] = [await room.request(path, { method: "HEAD" }), await room.request(path)];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    for (const name of ["etag", "content-type", "cache-control"]) {
      expect(head.headers.get(name)).toBe(full.headers.get(name));
    }
  });

  test("a compressed page has the same content as a plain one", async () => {
    const room = await tenants.create();
    await publishMany(room, 20);
    const [plain, ...packed] = await Promise.all(
      ["identity", "gzip", "br"].map((encoding) => get(room, {}, { "accept-encoding": encoding })),
    );
    const text = await plain!.text();
    for (const answer of packed) {
      expect(answer.headers.get("content-encoding")).toMatch(/^(?:gzip|br)$/);
      expect(await answer.text()).toBe(text);
    }
  });
});
