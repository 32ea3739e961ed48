import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";
import { settlementOf } from "./support/settling.ts";

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

function parse(bytes: Uint8Array) {
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Code and kind of a refused call; undefined when the call succeeds. */
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

async function publishAndWithhold(tenantId: string, document: object): Promise<string> {
  const id = await publish(tenantId, document);
  await service.take(tenantId, id, "withhold");
  return id;
}

function get(tenantId: string, documentId: string, more: object = {}) {
  return service.published.getPublishedDocument({ tenantId, by: { case: "documentId", value: documentId }, ...more });
}

function getBySlug(tenantId: string, slug: string, type = "core/article") {
  return service.published.getPublishedDocument({ tenantId, by: { case: "slug", value: { type, slug } } });
}

async function update(
  tenantId: string,
  document: { id: string; [member: string]: unknown },
  expectedVersion: number,
): Promise<void> {
  const { id: documentId, ...changed } = document;
  const documentJson = Buffer.from(JSON.stringify(changed));
  const request = { tenantId, documentId, expectedVersion: BigInt(expectedVersion), documentJson };
  await service.documents.updateDocument(request, as("editor"));
}

const notFound = [Code.NotFound, "not_found"];
const gone = [Code.NotFound, "gone"];

describe("a document by id", () => {
  const tenantId = "by_id";

  test("has the bytes of its snapshot, with its links and without linked documents", async () => {
    const links = [{ rel: "subject", type: "core/tag", uri: "iptc:1" }];
    const id = await publish(tenantId, article({ links }));
    const { documentJson, includedJson } = await get(tenantId, id.toUpperCase());
    const { snapshots } = await service.feed.getSnapshots({ references: [{ tenantId, documentId: id, sequence: 1n }] });
    expect(Buffer.from(documentJson)).toEqual(Buffer.from(snapshots[0]!.snapshotJson));
    expect(parse(documentJson).links).toEqual(links);
    expect(includedJson).toHaveLength(0);
  });

  const newswire = () => ({ ...article(), type: "core/newswire", meta: { source: "AP" } });

  test.each<[string, () => Promise<string>]>([
    ["a draft", () => service.create(tenantId, article())],
    ["a published newswire", () => publish(tenantId, newswire())],
    ["a withheld newswire", () => publishAndWithhold(tenantId, newswire())],
    ["another tenant's", () => publish("rival", article())],
    ["unknown", async () => randomUUID()],
  ])("is not found if it is %s", async (_, make) => {
    expect(await refusalOf(get(tenantId, await make()))).toEqual(notFound);
  });

  test("brings along, on request, the linked documents that readers may see, and no others", async () => {
    const tag = await publish(tenantId, { ...article(), type: "core/tag", content: { name: "Snow" } });
    const other = await publish(tenantId, article());
    const draft = await service.create(tenantId, article());
    const wire = await publish(tenantId, newswire());
    const withheld = await publishAndWithhold(tenantId, article());
    const foreign = await publish("rival", article());
    const ids = [other, draft, wire, withheld, foreign, tag, other];
    const links = ids.map((id) => ({ rel: "related", type: "core/article", id }));
    const id = await publish(tenantId, article({ links }));
    const { includedJson } = await get(tenantId, id, { includeLinks: true });
    const included = parse(includedJson);
    expect(Object.keys(included)).toEqual([other, tag]);
    expect(included[other]).toEqual(parse((await get(tenantId, other)).documentJson));
  });

  test("with its linked documents keeps its entity tag until one of these is withdrawn", async () => {
    const other = await publish(tenantId, article());
    const links = [{ rel: "related", type: "core/article", id: other }];
    const id = await publish(tenantId, article({ links }));
    const { etag } = await get(tenantId, id, { includeLinks: true });
    const same = await get(tenantId, id, { includeLinks: true, ifNoneMatch: etag });
    expect(same).toMatchObject({ notModified: true, documentJson: new Uint8Array() });
    await service.take(tenantId, other, "withhold");
    expect(await get(tenantId, id, { includeLinks: true, ifNoneMatch: etag })).toMatchObject({ notModified: false });
  });

  test("keeps its entity tag until it is published again", async () => {
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

  test("is found under its slug, but not under another slug, type or tenant", async () => {
    const id = await publish(tenantId, article({ slug: "here" }));
    expect(parse((await getBySlug(tenantId, "here")).documentJson).id).toBe(id);
    expect(await refusalOf(getBySlug(tenantId, "here", "core/tag"))).toEqual(notFound);
    expect(await refusalOf(getBySlug("rival", "here"))).toEqual(notFound);
    expect(await refusalOf(getBySlug(tenantId, "unknown"))).toEqual(notFound);
  });

  test("is not found while it is a draft", async () => {
    await service.create(tenantId, article({ slug: "draft" }));
    expect(await refusalOf(getBySlug(tenantId, "draft"))).toEqual(notFound);
  });

  test("is gone once it is withdrawn", async () => {
    await publishAndWithhold(tenantId, article({ slug: "away" }));
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
    ["a language in another letter case", () => ({ language: "DE-ch" }), [1]],
    ["a slug", () => ({ slug: "named" }), [3]],
    ["several criteria", () => ({ tag: "snow", site: "main", language: "de-ch" }), [1]],
    ["several criteria that nothing meets", () => ({ tag: "snow", slug: "named" }), []],
    ["an empty filter", () => ({}), [3, 2, 1, 0]],
  ])("lists, newest first, the documents that match %s", async (_, filter, expected) => {
    const request = { tenantId, type: "core/article", limit: 50, filter: filter(), includeLinks: true };
    const { itemsJson } = await service.published.listPublishedDocuments(request);
    const items: { id: string; links: unknown }[] = parse(itemsJson);
    expect(items.map(({ id }) => articles.indexOf(id))).toEqual(expected);
    expect(items.every(({ links }) => Array.isArray(links))).toBe(true);
  });

  test("includes once each published document to which the page's documents link, and none of the page", async () => {
    const other = "linking";
    const shared = await publish(other, { ...article(), type: "core/tag", content: { name: "Snow" } });
    const draft = await service.create(other, article());
    const first = await publish(other, article({ links: [{ rel: "subject", type: "core/tag", id: shared }] }));
    const ids = [shared, draft, first];
    await publish(other, article({ links: ids.map((id) => ({ rel: "related", type: "core/article", id })) }));
    const ask = (more: object) =>
      service.published.listPublishedDocuments({ tenantId: other, type: "core/article", includeLinks: true, ...more });
    const page = await ask({ limit: 50, includeLinked: true });
    expect(parse(page.itemsJson)).toHaveLength(2);
    expect(parse(page.includedJson)).toEqual({ [shared]: parse((await get(other, shared)).documentJson) });
    const narrow = await ask({ limit: 1, includeLinked: true });
    expect(Object.keys(parse(narrow.includedJson)).toSorted()).toEqual([first, shared].toSorted());
    for (const id of [first, shared]) {
      expect(Buffer.from(narrow.includedJson).toString().split(`"${id}":{`)).toHaveLength(2);
    }
    expect((await ask({ limit: 50 })).includedJson).toHaveLength(0);
    const none = await ask({ limit: 50, includeLinked: true, filter: { tag: "unknown" } });
    expect([parse(none.itemsJson), parse(none.includedJson)]).toEqual([[], {}]);
  });
});

describe("a site", () => {
  const tenantId = "sites";

  function siteOf(host: string, tenant = tenantId, ifNoneMatch = "") {
    return service.published.getPublishedSite({ tenantId: tenant, host, ifNoneMatch });
  }

  function site(slug: string, hosts: string[], meta: object = {}) {
    return { ...article({ slug, meta: { hosts, ...meta } }), type: "core/publisher-site", content: { name: slug } };
  }

  test("is found by its host in upper and lower case, with and without a port", async () => {
    const main = await publish(tenantId, site("main", ["www.example.com", "Example.com"]));
    for (const host of ["example.com", "EXAMPLE.com:8443", "www.example.com."]) {
      const found = parse((await siteOf(host)).siteJson);
      expect(found, host).toMatchObject({ id: main, name: "main", slug: "main", version: 1, status: "usable" });
    }
    expect(await refusalOf(siteOf("other.example"))).toEqual(notFound);
  });

  test("is not sent again to a reader that has its entity tag", async () => {
    const tenant = "site_tag";
    await publish(tenant, site("main", ["example.com"]));
    const { etag } = await siteOf("example.com", tenant);
    expect(await siteOf("example.com", tenant, etag)).toMatchObject({ notModified: true, siteJson: new Uint8Array() });
  });

  test("is found without a host if it is the only published site", async () => {
    const tenant = "only_site";
    expect(await refusalOf(siteOf("", tenant))).toEqual(notFound);
    const main = await publish(tenant, site("main", ["www.example.com"]));
    const found = parse((await siteOf("", tenant)).siteJson);
    expect(found).toMatchObject({ id: main, name: "main", slug: "main", version: 1, status: "usable" });
  });

  test("is found without a host if it is the primary site among several", async () => {
    const tenant = "primary_site";
    await publish(tenant, site("first", ["first.example"]));
    await publish(tenant, site("second", ["second.example"]));
    expect(await refusalOf(siteOf("", tenant))).toEqual(notFound);
    const primary = await publish(tenant, site("third", ["third.example"], { primary: true }));
    expect(parse((await siteOf("", tenant)).siteJson).id).toBe(primary);
  });

  test("is not found by its host once it is withdrawn", async () => {
    const tenant = "withdrawn_site";
    const id = await publish(tenant, site("main", ["main.example"], { primary: true }));
    expect(parse((await siteOf("main.example", tenant)).siteJson).id).toBe(id);
    await service.take(tenant, id, "withhold");
    expect(await refusalOf(siteOf("main.example", tenant))).toEqual(notFound);
  });

  test("is found without a host if it is the primary site, though 250 sites were published after it", async () => {
    const many = "many_sites";
    const primary = await publish(many, site("main", ["main.example"], { primary: true }));
    const others = await Promise.all(
      Array.from({ length: 250 }, (_, at) => service.create(many, site(`s${at}`, [`s${at}.example`]))),
    );
    const transitions = others.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
    for (let at = 0; at < transitions.length; at += 64) {
      const batch = transitions.slice(at, at + 64);
      const request = { tenantId: many, transitions: batch };
      const { results } = await service.documents.batchTransitionDocuments(request, as("admin"));
      expect(results.every(({ outcome }) => outcome.case === "transitioned")).toBe(true);
    }
    const { siteJson } = await service.published.getPublishedSite({ tenantId: many, host: "" });
    expect(parse(siteJson)["id"]).toBe(primary);
  });
});

describe("the publication of a site", () => {
  const tenantId = "hosts";

  function site(hosts: string[], meta: object = {}) {
    return { ...article({ meta: { hosts, ...meta } }), type: "core/publisher-site", content: {} };
  }

  const faultsOf = async (work: Promise<unknown>) => {
    const error = fromConnectError(await work.catch((reason: unknown) => reason));
    return error?.violations.map(({ pointer, message }) => `${pointer} ${message}`);
  };
  const idAt = async (host: string) =>
    parse((await service.published.getPublishedSite({ tenantId, host })).siteJson)["id"];

  test("is refused with the id of a published site that has the same host, until that site is withdrawn", async () => {
    const first = await publish(tenantId, site(["a.example", "B.example:8080"]));
    const second = await service.create(tenantId, site(["c.example", "b.EXAMPLE."]));
    expect(await faultsOf(service.take(tenantId, second, "publish"))).toEqual([
      `/meta/hosts/1 is b.example, a host of published site ${first}`,
    ]);
    const { transitions } = await service.documents.listTransitions({ tenantId, documentId: second }, as("admin"));
    expect(transitions.find(({ name }) => name === "publish")?.refusal?.message).toContain(`published site ${first}`);
    await service.take(tenantId, first, "withhold");
    await service.take(tenantId, second, "publish");
    expect(await idAt("b.example")).toBe(second);
  });

  test("under a host with a port lets readers find the site with and without the port", async () => {
    const local = await publish(tenantId, site(["localhost:3000"]));
    expect([await idAt("localhost:3000"), await idAt("LOCALHOST")]).toEqual([local, local]);
  });

  test("is refused for a malformed host", async () => {
    const broken = await service.create(tenantId, site(["https://x.example/", "ok.example"]));
    expect(await faultsOf(service.take(tenantId, broken, "publish"))).toEqual([
      "/meta/hosts/0 is no host name such as www.example.com",
    ]);
  });

  test("as the primary site is refused while another primary site is published", async () => {
    const primary = await publish(tenantId, site(["p.example"], { primary: true }));
    const other = await service.create(tenantId, site(["q.example"], { primary: true }));
    expect(await faultsOf(service.take(tenantId, other, "publish"))).toEqual([
      `/meta/primary published site ${primary} is the primary one`,
    ]);
  });

  test("is checked against the state after its batch, so that two sites may swap their hosts", async () => {
    const own = "swaps";
    const [x, y, z] = [site(["x.example"], { primary: true }), site(["y.example"]), site(["x.example"])];
    for (const each of [x, y]) await publish(own, each);
    const swapped = (document: typeof x, meta: object) => ({ ...document, meta: { ...document.meta, ...meta } });
    await update(own, swapped(x, { hosts: ["y.example"], primary: false }), 1);
    await update(own, swapped(y, { hosts: ["x.example"], primary: true }), 1);
    const take = async (...wanted: [string, string, number][]) => {
      const transitions = wanted.map(([documentId, name, version]) => {
        return { documentId, name, expectedVersion: BigInt(version) };
      });
      const request = { tenantId: own, transitions };
      const { results } = await service.documents.batchTransitionDocuments(request, as("admin"));
      return results.map(({ outcome }) => outcome.case);
    };
    expect(await take([x.id, "publish", 2], [y.id, "publish", 2])).toEqual(["transitioned", "transitioned"]);
    await service.create(own, z);
    expect(await take([z.id, "publish", 1], [y.id, "withhold", 2])).toEqual(["transitioned", "transitioned"]);
    await service.take(own, z.id, "withhold", 1);
    await service.take(own, y.id, "publish", 2);
    // The batch's withdrawal names a wrong version and fails, so the host stays taken.
    expect(await take([z.id, "publish", 1], [y.id, "withhold", 1])).toEqual(["error", "error"]);
  });

  test("succeeds for exactly one of eight sites with the same host published at the same time", async () => {
    const own = "at_once";
    const ids = await Promise.all(Array.from({ length: 8 }, () => service.create(own, site(["one.example"]))));
    const taken = await Promise.allSettled(ids.map((id) => service.take(own, id, "publish")));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("the versions of a published document", () => {
  const tenantId = "versions";
  const document = article();
  const documentId = document.id;

  beforeAll(async () => {
    await publish(tenantId, document);
    await update(tenantId, { ...document, title: "Never published" }, 1);
    await update(tenantId, { ...document, title: "Third" }, 2);
    await service.take(tenantId, documentId, "withhold", 1);
    await service.take(tenantId, documentId, "publish", 1);
    await service.take(tenantId, documentId, "publish", 3);
  });

  const snapshotsOfFirst = async () =>
    (await service.published.getPublishedVersion({ tenantId, documentId, version: 1n })).snapshots;

  test("are listed if they were usable, newest first, with the number of their last snapshot", async () => {
    const { versions } = await service.published.listPublishedVersions({ tenantId, documentId, limit: 50 });
    expect(versions.map(({ version, sequence }) => [version, sequence])).toEqual([
      [3n, 4n],
      [1n, 3n],
    ]);
  });

  test("are read with their usable snapshots, whose bytes match their digests", async () => {
    const snapshots = await snapshotsOfFirst();
    expect(snapshots.map(({ reference, status }) => [reference?.sequence, status])).toEqual([
      [1n, "usable"],
      [3n, "usable"],
    ]);
    for (const { snapshotJson, sha256 } of snapshots) {
      expect(Buffer.from(sha256)).toEqual(createHash("sha256").update(snapshotJson).digest());
      expect(parse(snapshotJson)).toMatchObject({ title: document.title, meta: { version: 1, status: "usable" } });
    }
  });

  test("have a snapshot's signature once the snapshot is settled with it", async () => {
    const keyIds = async () => (await snapshotsOfFirst()).map(({ signature }) => signature?.keyId);
    expect(await keyIds()).toEqual([undefined, undefined]);
    await service.feed.settleSnapshots({ settlements: [settlementOf({ tenantId, documentId, sequence: 3n })] });
    expect(await keyIds()).toEqual([undefined, "a"]);
  });

  test("are not found if they were never usable", async () => {
    const unpublished = service.published.getPublishedVersion({ tenantId, documentId, version: 2n });
    expect(await refusalOf(unpublished)).toEqual(notFound);
  });
});
