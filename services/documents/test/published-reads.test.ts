import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./publishing.ts";

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

function parse(bytes: Uint8Array) {
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Code and kind of a refused call. */
async function refusalOf(call: Promise<unknown>): Promise<[Code, string | undefined] | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ConnectError ? [error.code, error.findDetails(ErrorInfoSchema)[0]?.kind] : undefined;
}

async function publish(tenantId: string, document: object): Promise<string> {
  const id = await service.create(tenantId, document);
  await service.take(tenantId, id, "publish");
  return id;
}

function get(tenantId: string, documentId: string, more: object = {}) {
  return service.published.getPublishedDocument({ tenantId, by: { case: "documentId", value: documentId }, ...more });
}

function getBySlug(tenantId: string, slug: string, type = "core/article") {
  return service.published.getPublishedDocument({ tenantId, by: { case: "slug", value: { type, slug } } });
}

/** Makes the next version of a document. */
async function update(tenantId: string, document: ReturnType<typeof article>, expectedVersion: number): Promise<void> {
  const { id: documentId, ...changed } = document;
  const documentJson = Buffer.from(JSON.stringify(changed));
  const request = { tenantId, documentId, expectedVersion: BigInt(expectedVersion), documentJson };
  await service.documents.updateDocument(request, as("editor"));
}

const notFound = [Code.NotFound, "not_found"];
const gone = [Code.NotFound, "gone"];

describe("a document by id", () => {
  const tenantId = "by_id";

  test("is the canonical object of its snapshot, links included", async () => {
    const links = [{ rel: "subject", type: "core/tag", uri: "iptc:1" }];
    const id = await publish(tenantId, article({ links }));
    const { documentJson, includedJson } = await get(tenantId, id.toUpperCase());
    const { snapshots } = await service.feed.getSnapshots({ references: [{ tenantId, documentId: id, sequence: 1n }] });
    expect(Buffer.from(documentJson)).toEqual(Buffer.from(snapshots[0]!.snapshotJson));
    expect(parse(documentJson).links).toEqual(links);
    expect(includedJson).toHaveLength(0);
  });

  test("is gone once withdrawn, and there again when published again", async () => {
    const id = await publish(tenantId, article());
    await service.take(tenantId, id, "withhold");
    expect(await refusalOf(get(tenantId, id))).toEqual(gone);
    await service.take(tenantId, id, "publish");
    expect(parse((await get(tenantId, id)).documentJson).id).toBe(id);
    await service.take(tenantId, id, "kill");
    expect(await refusalOf(get(tenantId, id))).toEqual(gone);
  });

  test("does not exist for readers as a draft, as a newswire, published or withheld, and for another tenant", async () => {
    const draft = await service.create(tenantId, article());
    const newswire = { ...article(), type: "core/newswire", meta: { source: "AP" } };
    const wire = await publish(tenantId, newswire);
    const foreign = await publish("rival", article());
    const hidden = [draft, wire, foreign, randomUUID()];
    for (const id of hidden) expect(await refusalOf(get(tenantId, id)), id).toEqual(notFound);
    await service.take(tenantId, wire, "withhold");
    expect(await refusalOf(get(tenantId, wire))).toEqual(notFound);
  });

  test("brings along the published documents it links to, and nothing else", async () => {
    const tag = await publish(tenantId, { ...article(), type: "core/tag", content: { name: "Snow" } });
    const other = await publish(tenantId, article());
    const draft = await service.create(tenantId, article());
    const wire = await publish(tenantId, { ...article(), type: "core/newswire", meta: { source: "AP" } });
    const withheld = await publish(tenantId, article());
    await service.take(tenantId, withheld, "withhold");
    const foreign = await publish("rival", article());
    const ids = [other, draft, wire, withheld, foreign, tag, other];
    const links = ids.map((id) => ({ rel: "related", type: "core/article", id }));
    const id = await publish(tenantId, article({ links }));
    const { includedJson, etag } = await get(tenantId, id, { includeLinks: true });
    const included = parse(includedJson);
    expect(Object.keys(included)).toEqual([other, tag]);
    expect(included[other]).toEqual(parse((await get(tenantId, other)).documentJson));
    const same = await get(tenantId, id, { includeLinks: true, ifNoneMatch: etag });
    expect(same).toMatchObject({ notModified: true, documentJson: new Uint8Array() });
    await service.take(tenantId, other, "withhold");
    expect(await get(tenantId, id, { includeLinks: true, ifNoneMatch: etag })).toMatchObject({ notModified: false });
  });

  test("keeps its tag until it is published again", async () => {
    const document = article();
    await publish(tenantId, document);
    const { etag } = await get(tenantId, document.id);
    await update(tenantId, { ...document, title: "Edited" }, 1);
    expect(await get(tenantId, document.id, { ifNoneMatch: etag })).toMatchObject({ notModified: true });
    await service.take(tenantId, document.id, "publish", 2);
    const { notModified, documentJson } = await get(tenantId, document.id, { ifNoneMatch: etag });
    expect([notModified, parse(documentJson).title]).toEqual([false, "Edited"]);
  });
});

describe("a document by slug", () => {
  const tenantId = "by_slug";

  test("is found under its slug and under those it had, until another one takes them", async () => {
    const document = article({ slug: "first" });
    await publish(tenantId, document);
    await update(tenantId, { ...document, meta: { ...document.meta, slug: "second" } }, 1);
    await service.take(tenantId, document.id, "publish", 2);
    for (const slug of ["first", "second"]) {
      expect(parse((await getBySlug(tenantId, slug)).documentJson)).toMatchObject({
        id: document.id,
        meta: { slug: "second" },
      });
    }
    const heir = await publish(tenantId, article({ slug: "first" }));
    expect(parse((await getBySlug(tenantId, "first")).documentJson).id).toBe(heir);
  });

  test("is gone once withdrawn, and not found under a slug that was never published, or of another type or tenant", async () => {
    const id = await publish(tenantId, article({ slug: "away" }));
    expect(await refusalOf(getBySlug(tenantId, "away", "core/tag"))).toEqual(notFound);
    expect(await refusalOf(getBySlug("rival", "away"))).toEqual(notFound);
    await service.create(tenantId, article({ slug: "draft" }));
    expect(await refusalOf(getBySlug(tenantId, "draft"))).toEqual(notFound);
    await service.take(tenantId, id, "withhold");
    expect(await refusalOf(getBySlug(tenantId, "away"))).toEqual(gone);
  });
});

describe("a collection", () => {
  const tenantId = "filters";
  let tag: string;
  let site: string;
  let articles: string[];

  beforeAll(async () => {
    tag = await publish(tenantId, { ...article({ slug: "snow" }), type: "core/tag", content: { name: "Snow" } });
    const meta = { hosts: ["example.com"] };
    site = await publish(tenantId, { ...article({ slug: "main", meta }), type: "core/publisher-site", content: {} });
    const tagged = [{ rel: "subject", type: "core/tag", id: tag }];
    const linked = [{ rel: "site", type: "core/publisher-site", id: site }];
    articles = [
      await publish(tenantId, article({ links: tagged })),
      await publish(tenantId, article({ links: [...tagged, ...linked], meta: { language: "de-CH" } })),
      await publish(tenantId, article({ meta: { sites: ["main"] } })),
      await publish(tenantId, article({ slug: "named" })),
    ];
  });

  test.each([
    ["a tag's id", () => ({ tag }), [1, 0]],
    ["a tag's slug", () => ({ tag: "snow" }), [1, 0]],
    ["a tag that no document has", () => ({ tag: "rain" }), []],
    ["a site's id", () => ({ site }), [2, 1]],
    ["a site's slug", () => ({ site: "main" }), [2, 1]],
    ["a site that no document has", () => ({ site: "other" }), []],
    ["a language in any case", () => ({ language: "DE-ch" }), [1]],
    ["a slug", () => ({ slug: "named" }), [3]],
    ["several criteria", () => ({ tag: "snow", site: "main", language: "de-ch" }), [1]],
    ["several criteria that nothing meets", () => ({ tag: "snow", slug: "named" }), []],
    ["nothing", () => ({}), [3, 2, 1, 0]],
  ])("is narrowed by %s", async (_, filter, expected) => {
    const request = { tenantId, type: "core/article", limit: 50, filter: filter(), includeLinks: true };
    const { itemsJson } = await service.published.listPublishedDocuments(request);
    const items: { id: string; links: unknown }[] = parse(itemsJson);
    expect(items.map(({ id }) => articles.indexOf(id))).toEqual(expected);
    expect(items.every(({ links }) => Array.isArray(links))).toBe(true);
  });

  test("pages through a narrowed walk", async () => {
    const request = { tenantId, type: "core/article", limit: 1, filter: { tag: "snow" } };
    const first = await service.published.listPublishedDocuments(request);
    expect(first.hasMore).toBe(true);
    const second = await service.published.listPublishedDocuments({ ...request, cursor: first.nextCursor });
    expect([parse(second.itemsJson)[0].id, second.hasMore]).toEqual([articles[0], false]);
  });
});

describe("a site", () => {
  const tenantId = "sites";

  function siteOf(host: string, ifNoneMatch = "") {
    return service.published.getPublishedSite({ tenantId, host, ifNoneMatch });
  }

  function site(slug: string, hosts: string[], meta: object = {}) {
    return { ...article({ slug, meta: { hosts, ...meta } }), type: "core/publisher-site", content: { name: slug } };
  }

  test("is one object, found by host in any case, with or without a port", async () => {
    expect(await refusalOf(siteOf(""))).toEqual(notFound);
    const main = await publish(tenantId, site("main", ["www.example.com", "Example.com"]));
    for (const host of ["example.com", "EXAMPLE.com:8443", "www.example.com.", ""]) {
      const found = parse((await siteOf(host)).siteJson);
      expect(found, host).toMatchObject({ id: main, name: "main", slug: "main", version: 1, status: "usable" });
    }
    expect(await refusalOf(siteOf("other.example"))).toEqual(notFound);
    const { etag } = await siteOf("example.com");
    expect(await siteOf("example.com", etag)).toMatchObject({ notModified: true });
  });

  test("without a host is the primary one of several", async () => {
    await publish(tenantId, site("second", ["second.example"]));
    expect(await refusalOf(siteOf(""))).toEqual(notFound);
    const primary = await publish(tenantId, site("third", ["third.example"], { primary: true }));
    expect(parse((await siteOf("")).siteJson).id).toBe(primary);
    await service.take(tenantId, primary, "withhold");
    expect(await refusalOf(siteOf("third.example"))).toEqual(notFound);
  });
});

describe("versions", () => {
  const tenantId = "versions";

  test("are those that were usable, with their snapshots' exact bytes, and signatures once attached", async () => {
    const document = article();
    const documentId = document.id;
    await publish(tenantId, document);
    await update(tenantId, { ...document, title: "Never published" }, 1);
    await update(tenantId, { ...document, title: "Third" }, 2);
    await service.take(tenantId, documentId, "withhold", 1);
    await service.take(tenantId, documentId, "publish", 1);
    await service.take(tenantId, documentId, "publish", 3);
    const { versions } = await service.published.listPublishedVersions({ tenantId, documentId, limit: 50 });
    expect(versions.map(({ version, sequence }) => [version, sequence])).toEqual([
      [3n, 4n],
      [1n, 3n],
    ]);
    const signature = { keyId: "k", statement: "s", value: new Uint8Array(64) };
    const reference = { tenantId, documentId, sequence: 3n };
    await service.feed.settleSnapshots({
      settlements: [{ reference, outcome: { case: "signature", value: signature } }],
    });
    const { snapshots } = await service.published.getPublishedVersion({ tenantId, documentId, version: 1n });
    expect(snapshots.map(({ reference, status }) => [reference?.sequence, status])).toEqual([
      [1n, "usable"],
      [3n, "usable"],
    ]);
    expect(snapshots.map((snapshot) => snapshot.signature?.keyId)).toEqual([undefined, "k"]);
    for (const { snapshotJson, sha256 } of snapshots) {
      expect(Buffer.from(sha256)).toEqual(createHash("sha256").update(snapshotJson).digest());
      expect(parse(snapshotJson)).toMatchObject({ title: document.title, meta: { version: 1, status: "usable" } });
    }
    const unpublished = service.published.getPublishedVersion({ tenantId, documentId, version: 2n });
    expect(await refusalOf(unpublished)).toEqual(notFound);
  });

  test("are paged, newest first", async () => {
    const document = article();
    await publish(tenantId, document);
    for (const version of [1, 2, 3]) {
      await update(tenantId, { ...document, title: `Title ${version}` }, version);
      await service.take(tenantId, document.id, "publish", version + 1);
    }
    const seen: bigint[] = [];
    for (let cursor = ""; ;) {
      const request = { tenantId, documentId: document.id, limit: 3, cursor };
      const { versions, nextCursor, hasMore } = await service.published.listPublishedVersions(request);
      seen.push(...versions.map(({ version }) => version));
      if (!hasMore) break;
      cursor = nextCursor;
    }
    expect(seen).toEqual([4n, 3n, 2n, 1n]);
  });

  test("are all gone while the document is withdrawn", async () => {
    const documentId = await publish(tenantId, article());
    await service.take(tenantId, documentId, "withhold");
    const list = service.published.listPublishedVersions({ tenantId, documentId, limit: 50 });
    expect(await refusalOf(list)).toEqual(gone);
    const one = service.published.getPublishedVersion({ tenantId, documentId, version: 1n });
    expect(await refusalOf(one)).toEqual(gone);
  });
});
