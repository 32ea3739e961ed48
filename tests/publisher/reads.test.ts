/** Section 4.3: publisher-facing reads by id, slug, collection and host. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Page, refusal, success } from "../support/answers.ts";
import type { Newsroom } from "../support/newsroom.ts";
import {
  draftOf,
  edit,
  publish,
  type PublishedJson,
  read,
  readDocument,
  transition,
  walk,
} from "../support/site-reader.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

const collections = {
  articles: "core/article",
  images: "core/image",
  audio: "core/audio",
  tags: "core/tag",
  sites: "core/publisher-site",
};

const refused = (path: string, status: number, code: string) =>
  refusal(room.request(`/v1/publisher${path}`), status, code);

describe("a document by id", () => {
  test.each(Object.entries(collections))(
    "of %s has the members that its collection shows, links included",
    async (collection, type) => {
      const links = [{ rel: "source", type: "core/organisation", uri: "https://example.com/tt" }];
      const draft = draftOf(type, { title: "Ferry", links });
      const id = await publish(room, draft);
      const document = await readDocument(room, `/documents/${id.toUpperCase()}`);
      expect(Object.keys(document)).toEqual(["content", "id", "links", "meta", "title", "type", "updated_at"]);
      expect(document).toMatchObject({ id, type, title: "Ferry", links, content: draft["content"] });
      expect(document.meta).toMatchObject({ status: "usable", version: 1, slug: `x-${id}` });
      expect((await walk(room, `/${collection}`)).find((item) => item.id === id)).toEqual(document);
    },
  );

  test("is 410 GONE after withhold, there again when published again, and 410 GONE after kill", async () => {
    const draft = draftOf("core/article");
    const id = await publish(room, draft);
    const paths = ["", "/versions", "/versions/1"].map((path) => `/documents/${id}${path}`);
    paths.push(`/articles/slug/x-${id}`);
    for (const name of ["withhold", "publish", "kill"]) {
      await transition(room, id, name);
      for (const path of paths) {
        if (name === "publish") expect(await read(room, path)).toBeTruthy();
        else expect((await refused(path, 410, "GONE")).message, path).toContain(id);
      }
      expect((await walk(room, "/articles")).some((item) => item.id === id)).toBe(name === "publish");
    }
  });

  test("stays as it was published, with the same ETag, while its next version is edited", async () => {
    const draft = draftOf("core/article", { title: "First" });
    const id = await publish(room, draft);
    const path = `/v1/publisher/documents/${id}`;
    const etag = (await room.request(path)).headers.get("etag") ?? "";
    const conditional = () => room.request(path, { headers: { "if-none-match": etag } });
    await edit(room, { ...draft, title: "Second" }, 1);
    expect((await readDocument(room, `/documents/${id}`)).title).toBe("First");
    expect((await conditional()).status).toBe(304);
    await transition(room, id, "publish", 2);
    const changed = await conditional();
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({ data: { document: { title: "Second", meta: { version: 2 } } } });
  });

  test("with include=links comes with the published documents that it links to, by their ids", async () => {
    const tag = await publish(room, draftOf("core/tag"));
    const image = await publish(room, draftOf("core/image"));
    const unpublished = await room.push(draftOf("core/image"));
    const links = [tag, image, unpublished].map((id) => ({ rel: "related", type: "core/document", id }));
    const id = await publish(room, draftOf("core/article", { links }));
    for (const path of [`/documents/${id}`, `/articles/slug/x-${id}`]) {
      type Answer = { document: PublishedJson; included?: Record<string, PublishedJson> };
      const { document, included } = await read<Answer>(room, `${path}?include=links`);
      expect(document).toEqual(await readDocument(room, path));
      expect(Object.keys(included ?? {}).toSorted()).toEqual([tag, image].toSorted());
      expect(included?.[image]).toEqual(await readDocument(room, `/documents/${image}`));
      expect(await read<Answer>(room, path)).not.toHaveProperty("included");
    }
    expect(await read(room, `/documents/${tag}?include=links`)).toMatchObject({ included: {} });
  });
});

describe("a document by slug", () => {
  test("is found by its new slug, and by the old one until another document takes that", async () => {
    const draft = draftOf("core/article", { meta: { slug: "old-address" } });
    const id = await publish(room, draft);
    await edit(room, { ...draft, meta: { ...(draft["meta"] as object), slug: "new-address" } }, 1);
    await refused("/articles/slug/new-address", 404, "NOT_FOUND");
    await transition(room, id, "publish", 2);
    for (const slug of ["new-address", "old-address"]) {
      expect(await readDocument(room, `/articles/slug/${slug}`)).toMatchObject({ id, meta: { slug: "new-address" } });
    }
    const heir = await publish(room, draftOf("core/article", { meta: { slug: "old-address" } }));
    expect((await readDocument(room, "/articles/slug/old-address")).id).toBe(heir);
    expect((await readDocument(room, "/articles/slug/new-address")).id).toBe(id);
  });

  test("is found in the collection of its type only", async () => {
    const slug = "färja & hav";
    const article = await publish(room, draftOf("core/article", { meta: { slug: "färja-&-hav" } }));
    const tag = await publish(room, draftOf("core/tag", { meta: { slug: "färja-&-hav" } }));
    const at = (collection: string) => `/${collection}/slug/${encodeURIComponent(slug.replaceAll(" ", "-"))}`;
    expect((await readDocument(room, at("articles"))).id).toBe(article);
    expect((await readDocument(room, at("tags"))).id).toBe(tag);
    await refused(at("images"), 404, "NOT_FOUND");
  });
});

describe("a collection", () => {
  test("is narrowed by tag, site, language, slug and time, one by one and together", async () => {
    const own = await tenants.create();
    const tag = await publish(own, draftOf("core/tag", { meta: { slug: "snow" } }));
    const site = await publish(own, draftOf("core/publisher-site", { meta: { slug: "main" } }));
    const tagged = { rel: "subject", type: "core/tag", id: tag };
    const shown = { rel: "site", type: "core/publisher-site", id: site };
    const ids = [
      await publish(own, draftOf("core/image", { links: [tagged] })),
      await publish(own, draftOf("core/image", { links: [tagged, shown], meta: { language: "de-CH" } })),
      await publish(own, draftOf("core/image", { meta: { sites: ["main"] } })),
      await publish(own, draftOf("core/image", { meta: { slug: "named" } })),
    ];
    const second = await readDocument(own, `/documents/${ids[1]}`);
    const narrowed = async (query: string) => (await walk(own, `/images${query}`, 1)).map(({ id }) => ids.indexOf(id));
    expect(await narrowed("")).toEqual([3, 2, 1, 0]);
    for (const value of [tag, tag.toUpperCase(), "snow"]) expect(await narrowed(`?tag=${value}`)).toEqual([1, 0]);
    for (const value of [site, "main"]) expect(await narrowed(`?site=${value}`)).toEqual([2, 1]);
    expect(await narrowed("?language=DE-ch")).toEqual([1]);
    expect(await narrowed("?slug=named")).toEqual([3]);
    expect(await narrowed(`?updatedSince=${second.updated_at}`)).toEqual([3, 2, 1]);
    expect(await narrowed(`?tag=snow&site=main&language=de-ch&updatedSince=${second.updated_at}`)).toEqual([1]);
    expect(await narrowed("?tag=snow&slug=named")).toEqual([]);
    expect(await narrowed("?tag=rain")).toEqual([]);
  });

  test("refuses a cursor that is not the nextCursor of a page of the same collection and filters", async () => {
    const own = await tenants.create();
    for (const type of ["core/audio", "core/image"]) {
      for (let count = 0; count < 3; count += 1) await publish(own, draftOf(type));
    }
    const { nextCursor } = await read<Page>(own, "/audio?limit=1");
    expect((await read<Page>(own, `/audio?limit=2&cursor=${nextCursor}`)).items).toHaveLength(2);
    for (const query of ["", "language=de&", "updatedSince=2026-01-01&"]) {
      const path = query === "" ? "/v1/publisher/images?" : `/v1/publisher/audio?${query}`;
      const { message } = await refusal(own.request(`${path}cursor=${nextCursor}`), 400, "INVALID_QUERY");
      expect(message).toContain("cursor must be the nextCursor of a page of the same collection and filters");
    }
    await refusal(own.request(`/v1/publisher/audio?cursor=${nextCursor}A`), 400, "INVALID_QUERY");
    const [id = ""] = (await walk(own, "/audio")).map((item) => item.id);
    await refusal(own.request(`/v1/publisher/documents/${id}/versions?cursor=${nextCursor}`), 400, "INVALID_QUERY");
  });

  test("gives cursors that GET /v1/documents answers with the first page of its list", async () => {
    const own = await tenants.create();
    for (const type of ["core/audio", "core/image"]) {
      for (let count = 0; count < 3; count += 1) await publish(own, draftOf(type));
    }
    const { nextCursor } = await read<Page>(own, "/audio?limit=1");
    const foreign = await success<Page>(own.request(`/v1/documents?type=core/image&cursor=${nextCursor}`), 200);
    expect(foreign.items).toHaveLength(3);
  });

  test("answers 304 until something of its type is published", async () => {
    const own = await tenants.create();
    await publish(own, draftOf("core/audio"));
    const url = "/v1/publisher/audio?limit=2";
    const etag = (await own.request(url)).headers.get("etag") ?? "";
    const status = async () => (await own.request(url, { headers: { "if-none-match": etag } })).status;
    await publish(own, draftOf("core/image"));
    expect(await status()).toBe(304);
    await publish(own, draftOf("core/audio"));
    expect(await status()).toBe(200);
  });
});

describe("a site", () => {
  const other = () => draftOf("core/publisher-site", { title: "Other", meta: { hosts: ["b.example"], primary: true } });

  test("is found by its host, in mixed case and with a port", async () => {
    const own = await tenants.create();
    const content = { name: "Example News", navigation: { primary: [{ label: "Home", url: "/" }] } };
    const hosts = ["www.example.com", "example.com"];
    const id = await publish(own, draftOf("core/publisher-site", { title: "Main", content, meta: { hosts } }));
    await publish(own, other());
    const { site } = await read<{ site: object }>(own, "/site?host=WWW.Example.COM:8443");
    expect(site).toMatchObject({ id, title: "Main", ...content, hosts, language: "en", status: "usable", version: 1 });
    await refusal(own.request("/v1/publisher/site?host=c.example"), 404, "NOT_FOUND");
  });

  test("that is withheld is no longer found by its host", async () => {
    const own = await tenants.create();
    const hosts = ["example.com"];
    const id = await publish(own, draftOf("core/publisher-site", { title: "Main", meta: { hosts } }));
    expect(await read(own, "/site?host=example.com")).toMatchObject({ site: { id } });
    await transition(own, id, "withhold");
    await refusal(own.request("/v1/publisher/site?host=example.com"), 404, "NOT_FOUND");
  });

  test("is found without a host when it is the primary one", async () => {
    const own = await tenants.create();
    await publish(own, draftOf("core/publisher-site", { title: "Main", meta: { hosts: ["a.example"] } }));
    await publish(own, other());
    expect(await read(own, "/site")).toMatchObject({ site: { title: "Other" } });
  });
});
