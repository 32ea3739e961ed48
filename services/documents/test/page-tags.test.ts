import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

/** What a collection is asked for beside its type. */
interface Query {
  filter?: { tag?: string; site?: string; language?: string };
  includeLinks?: boolean;
  includeLinked?: boolean;
}

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function publish(tenantId: string, document: { id: string }): Promise<string> {
  await service.create(tenantId, document);
  await service.take(tenantId, document.id, "publish");
  return document.id;
}

function tag(slug: string, id = randomUUID()) {
  return { id, type: "core/tag", title: "Snow", meta: { slug }, content: { name: "Snow" } };
}

function site(slug: string, host: string) {
  const meta = { slug, hosts: [host], language: "de" };
  return { id: randomUUID(), type: "core/publisher-site", title: "Pass", meta, content: {} };
}

function image() {
  const content = { alt: "Snow", renditions: [{ name: "large", url: "https://example.com/snow.jpg" }] };
  return { id: randomUUID(), type: "core/image", title: "Snow", meta: { credit: "AP" }, content };
}

async function read(tenantId: string, query: Query, ifNoneMatch = "") {
  const answer = await service.published.listPublishedDocuments({
    tenantId,
    type: "core/article",
    limit: 50,
    ...query,
    ifNoneMatch,
  });
  const items: { id: string }[] = JSON.parse(Buffer.from(answer.itemsJson).toString() || "[]");
  return { ...answer, ids: items.map(({ id }) => id) };
}

/**
 * Reads pages. Returns a function that tells of each page, by its name, whether its tag still
 * holds.
 */
async function hold<Name extends string>(tenantId: string, queries: Record<Name, Query>) {
  const pages = Object.entries<Query>(queries);
  const held = await Promise.all(pages.map(async ([, query]) => (await read(tenantId, query)).etag));
  return async (): Promise<Record<Name, boolean>> => {
    const again = pages.map(async ([name, query], at) => [name, (await read(tenantId, query, held[at])).notModified]);
    return Object.fromEntries(await Promise.all(again));
  };
}

/** A tenant with an article under a tag and on a site, and the pages its readers hold. */
async function newsroom(tenantId: string) {
  const tagId = await publish(tenantId, tag("snow"));
  const pass = site("pass", "pass.example.com");
  await publish(tenantId, pass);
  const links = [{ rel: "subject", type: "core/tag", id: tagId }];
  const articleId = await publish(tenantId, article({ links, meta: { sites: ["pass"] } }));
  const pages = {
    all: {},
    whole: { includeLinks: true },
    language: { filter: { language: "de" } },
    tagId: { filter: { tag: tagId } },
    tagSlug: { filter: { tag: "snow" } },
    siteId: { filter: { site: pass.id } },
    siteSlug: { filter: { site: "pass" } },
  };
  for (const query of Object.values(pages)) expect((await read(tenantId, query)).ids).toEqual([articleId]);
  return { tagId, pass, articleId, stands: await hold(tenantId, pages) };
}

const all = { all: true, whole: true, language: true, tagId: true, tagSlug: true, siteId: true, siteSlug: true };
const none = {
  all: false,
  whole: false,
  language: false,
  tagId: false,
  tagSlug: false,
  siteId: false,
  siteSlug: false,
};

function clockOf(tenantId: string) {
  return service.db.collection("clocks").findOne({ tenantId });
}

describe("the pages that readers hold", () => {
  test("stay valid when a draft is submitted, returned, approved, spiked and restored", async () => {
    const tenantId = "editing";
    const { stands } = await newsroom(tenantId);
    const before = await clockOf(tenantId);
    const id = await service.create(tenantId, article());
    for (const name of ["submit", "return", "submit", "approve", "spike", "restore"])
      await service.take(tenantId, id, name);
    expect(await stands()).toEqual(all);
    expect(await clockOf(tenantId)).toEqual(before);
  });

  test("stay valid when a publication is refused in one batch with another transition", async () => {
    const tenantId = "refused";
    const { stands } = await newsroom(tenantId);
    const incomplete = await service.create(tenantId, { ...article(), meta: {} });
    const draft = await service.create(tenantId, article());
    const transitions = [
      { documentId: incomplete, name: "publish", expectedVersion: 1n },
      { documentId: draft, name: "submit", expectedVersion: 1n },
    ];
    const { results } = await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("admin"));
    expect(results.map(({ outcome }) => outcome.case)).toEqual(["error", "transitioned"]);
    expect(await stands()).toEqual(all);
  });

  test("stay valid when documents of another type are published or withdrawn", async () => {
    const tenantId = "others";
    const { stands } = await newsroom(tenantId);
    const id = await publish(tenantId, image());
    await service.take(tenantId, id, "withhold");
    const wire = { ...article(), type: "core/newswire", meta: { source: "AP" } };
    await publish(tenantId, wire);
    expect(await stands()).toEqual(all);
  });

  test("with linked documents become invalid when a document of another type is published or withdrawn", async () => {
    const tenantId = "linked";
    await newsroom(tenantId);
    const stands = await hold(tenantId, { linked: { includeLinks: true, includeLinked: true } });
    await service.create(tenantId, article());
    expect(await stands()).toEqual({ linked: true });
    const id = await publish(tenantId, image());
    expect(await stands()).toEqual({ linked: false });
    const after = await hold(tenantId, { linked: { includeLinks: true, includeLinked: true } });
    await service.take(tenantId, id, "withhold");
    expect(await after()).toEqual({ linked: false });
  });

  test("become invalid when a document of their type is published", async () => {
    const tenantId = "own";
    const { stands } = await newsroom(tenantId);
    await publish(tenantId, article());
    expect(await stands()).toEqual(none);
  });

  test("that name a tag by its slug, but not by its id, become invalid when the tag is withdrawn", async () => {
    const tenantId = "named_tag";
    const { stands, tagId, articleId } = await newsroom(tenantId);
    await service.take(tenantId, tagId, "withhold");
    expect(await stands()).toEqual({ ...all, tagSlug: false });
    const other = await publish(tenantId, tag("snow"));
    expect((await read(tenantId, { filter: { tag: "snow" } })).ids).toEqual([]);
    expect((await read(tenantId, { filter: { tag: other } })).ids).toEqual([]);
    expect((await read(tenantId, { filter: { tag: tagId } })).ids).toEqual([articleId]);
  });

  test("that name a site by its id or slug become invalid when the site is withdrawn", async () => {
    const tenantId = "named_site";
    const { stands, pass } = await newsroom(tenantId);
    await service.take(tenantId, pass.id, "withhold");
    expect(await stands()).toEqual({ ...all, siteId: false, siteSlug: false });
    expect((await read(tenantId, { filter: { site: pass.id } })).ids).toEqual([]);
  });
});

async function publishOthers(tenantId: string): Promise<void> {
  await publish(tenantId, article());
  await publish(tenantId, tag("ice"));
  await publish(tenantId, site("valley", "valley.example.com"));
}

test("the entity tag of a site stays valid when an article, a tag and another site are published", async () => {
  const tenantId = "single_site";
  await newsroom(tenantId);
  const readSite = (ifNoneMatch = "") =>
    service.published.getPublishedSite({ tenantId, host: "pass.example.com", ifNoneMatch });
  const { etag } = await readSite();
  await publishOthers(tenantId);
  expect(await readSite(etag)).toMatchObject({ notModified: true });
});

test("the entity tag of a document with its links stays valid until a linked document is withdrawn", async () => {
  const tenantId = "single_document";
  const { tagId, articleId } = await newsroom(tenantId);
  const by = { case: "documentId", value: articleId } as const;
  const readLinked = (ifNoneMatch = "") =>
    service.published.getPublishedDocument({ tenantId, by, includeLinks: true, ifNoneMatch });
  const linked = await readLinked();
  await publishOthers(tenantId);
  expect(await readLinked(linked.etag)).toMatchObject({ notModified: true });
  await service.take(tenantId, tagId, "withhold");
  expect(await readLinked(linked.etag)).toMatchObject({ notModified: false });
});

test("a site filter with the id of a document of another type does not match that document's slug", async () => {
  const tenantId = "site_id";
  const id = await publish(tenantId, article({ slug: "pass" }));
  await publish(tenantId, article({ meta: { sites: ["pass"] } }));
  expect((await read(tenantId, { filter: { site: id } })).ids).toEqual([]);
});

test("history is in the order of the steps, though the clock of the tenant runs ahead", async () => {
  const tenantId = "ahead";
  const id = await publish(tenantId, article());
  const ahead = new Date(Date.now() + 60_000);
  await service.db.collection("clocks").updateOne({ tenantId }, { $set: { tick: ahead } });
  for (const name of ["withhold", "publish", "withhold"]) await service.take(tenantId, id, name);
  const draft = await service.create(tenantId, article());
  for (const name of ["submit", "approve", "publish", "withhold"]) await service.take(tenantId, draft, name);
  const documentJson = Buffer.from(JSON.stringify(article({ id: draft, text: "More." })));
  await service.documents.updateDocument(
    { tenantId, documentId: draft, expectedVersion: 1n, documentJson },
    as("editor"),
  );
  for (const name of ["submit", "approve"]) await service.take(tenantId, draft, name, 2);
  const { entries } = await service.documents.listDocumentHistory({ tenantId, documentId: draft, limit: 50 });
  const steps = entries.map(({ transition }) => transition);
  expect(steps.toReversed()).toEqual(["", "submit", "approve", "publish", "withhold", "", "submit", "approve"]);
});
