import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DomainError } from "@vidimus/kit/errors";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakePublisher } from "./support/fake-publisher.ts";
import { serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

const documentId = "4f7d4c3e-4a9c-4a37-9d0f-6f2b1f0a9e11";
const snapshotBytes = Buffer.from('{"content":{},"n":1.50,"title":"Ø"}');

const publisher = new FakePublisher();
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let key: string;

beforeAll(async () => {
  rpc = await serve([publisher.route()]);
  gateway = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}` });
  key = await newKey(gateway.access, "acme");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

beforeEach(() => {
  publisher.asked.length = 0;
  publisher.failure = undefined;
  publisher.includedJson = "";
  const updatedAt = timestampFromDate(new Date("2026-11-21T09:30:00.012Z"));
  const sha256 = new Uint8Array(32).fill(0xab);
  publisher.versions = {
    versions: [{ version: 7n, sequence: 12n, updatedAt, sha256 }],
    nextCursor: 'v"1',
    hasMore: true,
  };
  const snapshot = (sequence: bigint, snapshotJson: Uint8Array) => ({
    reference: { tenantId: "acme", documentId, sequence },
    documentType: "core/article",
    version: 7n,
    status: "usable",
    snapshotJson,
    sha256,
  });
  const signature = { keyId: "ed25519-k", statement: "vidimus-snapshot-v1\nacme", value: new Uint8Array(64).fill(1) };
  const snapshots = [{ ...snapshot(9n, Buffer.from("{}")), signature }, snapshot(12n, snapshotBytes)];
  publisher.version = { version: 7n, snapshots };
});

const read = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${gateway.url}/v1/publisher${path}`, { method, headers: { ...bearer(key), ...headers } });

const collections = [
  ["articles", "core/article"],
  ["images", "core/image"],
  ["audio", "core/audio"],
  ["tags", "core/tag"],
  ["sites", "core/publisher-site"],
] as const;

/** One path of each endpoint. */
const paths = [
  `/documents/${documentId}`,
  "/articles",
  "/articles/slug/ferry",
  "/site?host=example.com",
  "/changes",
  `/documents/${documentId}/versions`,
  `/documents/${documentId}/versions/7`,
];

async function refusalOf(response: Response) {
  return { status: response.status, body: (await response.json()) as unknown };
}

describe("GET /v1/publisher/documents/:id", () => {
  test("200 has the document byte for byte as documents sends it", async () => {
    const response = await read(`/documents/${documentId.toUpperCase()}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"ok":true,"data":{"document":{"id":"a", "n":1.50}}}');
    expect(publisher.asked).toMatchObject([
      { tenantId: "acme", by: { case: "documentId", value: documentId.toUpperCase() }, includeLinks: false },
    ]);
  });

  test("200 with include=links has `included` as documents sends it, also when it is empty", async () => {
    for (const included of ["{}", '{"b":{"id":"b", "n":2.50}}']) {
      publisher.includedJson = included;
      const response = await read(`/documents/${documentId}?include=links`);
      expect(await response.text()).toBe(`{"ok":true,"data":{"document":{"id":"a", "n":1.50},"included":${included}}}`);
    }
    expect(publisher.asked).toMatchObject([{ includeLinks: true }, { includeLinks: true }]);
  });

  test.each([
    [404, "an unknown document", "not_found", "NOT_FOUND", "there is no published document x"],
    [410, "a withdrawn document", "gone", "GONE", "document x was withdrawn"],
  ] as const)("%i is for %s", async (status, _, kind, code, message) => {
    publisher.failure = new DomainError(kind, message);
    const body = { ok: false, error: { code, message } };
    expect(await refusalOf(await read(`/documents/${documentId}`))).toEqual({ status, body });
  });
});

describe.each(collections)("GET /v1/publisher/%s", (collection, type) => {
  test("200 is the page that documents sends for the collection's type and the whole query", async () => {
    const query =
      "?tag=snow&site=main&language=en-GB&slug=a&updatedSince=2026-11-21T09:30:00%2B02:00&limit=200&cursor=c";
    const response = await read(`/${collection}${query}`);
    expect(await response.text()).toBe(
      '{"ok":true,"data":{"items":[{"id":"a", "n":1.50}],"nextCursor":"c1","hasMore":true}}',
    );
    const [asked] = publisher.asked;
    expect(asked).toMatchObject({
      tenantId: "acme",
      type,
      includeLinks: true,
      limit: 200,
      cursor: "c",
      filter: { tag: "snow", site: "main", language: "en-GB", slug: "a" },
    });
    const since = asked && "updatedSince" in asked ? asked.updatedSince : undefined;
    expect(timestampDate(since!).toISOString()).toBe("2026-11-21T07:30:00.000Z");
  });

  test("a request without a query asks documents for at most 50 of the type, unfiltered", async () => {
    expect((await read(`/${collection}`)).status).toBe(200);
    expect(publisher.asked).toMatchObject([{ type, limit: 50, filter: { tag: "", site: "", language: "", slug: "" } }]);
    const [asked] = publisher.asked;
    expect(asked && "updatedSince" in asked ? asked.updatedSince : undefined).toBeUndefined();
  });

  test("200 for a percent-encoded slug is the document with that slug", async () => {
    const response = await read(`/${collection}/slug/${encodeURIComponent("färja:1")}?include=links`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('{"ok":true,"data":{"document":{"id":"a", "n":1.50}}}');
    expect(publisher.asked).toMatchObject([
      { by: { case: "slug", value: { type, slug: "färja:1" } }, includeLinks: true },
    ]);
  });
});

describe("GET /v1/publisher/site", () => {
  test.each([
    ["the host as it was written", "?host=WWW.Example.com:8443", "WWW.Example.com:8443"],
    ["an empty host when none is given", "", ""],
  ])("200 is the site that documents sends for %s", async (_, query, host) => {
    const response = await read(`/site${query}`);
    expect(await response.text()).toBe('{"ok":true,"data":{"site":{"hosts":["a"], "n":1.0}}}');
    expect(publisher.asked).toMatchObject([{ tenantId: "acme", host }]);
  });
});

describe("GET /v1/publisher/documents/:id/versions", () => {
  test("200 lists versions with their digests in hex", async () => {
    const response = await read(`/documents/${documentId}/versions?limit=7&cursor=x`);
    expect(await response.json()).toEqual({
      ok: true,
      data: {
        versions: [{ version: 7, sequence: 12, updated_at: "2026-11-21T09:30:00.012Z", sha256: "ab".repeat(32) }],
        nextCursor: 'v"1',
        hasMore: true,
      },
    });
    expect(publisher.asked).toMatchObject([{ tenantId: "acme", documentId, limit: 7, cursor: "x" }]);
  });
});

describe("GET /v1/publisher/documents/:id/versions/:n", () => {
  const readVersion = async () => (await read(`/documents/${documentId}/versions/7`)).text();

  test("200 shows the newest snapshot as the document", async () => {
    expect(await readVersion()).toContain(`"version":7,"document":${snapshotBytes.toString()},"snapshots":[`);
    expect(publisher.asked).toMatchObject([{ tenantId: "acme", documentId, version: 7n }]);
  });

  test("200 has of each snapshot the exact bytes with their digest and signature", async () => {
    const sha256 = "ab".repeat(32);
    const value = Buffer.alloc(64, 1).toString("base64");
    const signature = { keyId: "ed25519-k", algorithm: "ed25519", statement: "vidimus-snapshot-v1\nacme", value };
    expect(JSON.parse(await readVersion()).data.version.snapshots).toEqual([
      { sequence: 9, status: "usable", bytes: Buffer.from("{}").toString("base64"), sha256, signature },
      { sequence: 12, status: "usable", bytes: snapshotBytes.toString("base64"), sha256, signature: null },
    ]);
  });
});

describe.each(paths)("every read: GET %s", (path) => {
  test("is 304 for an If-None-Match with its tag, weak or strong, alone or in a list, and for *", async () => {
    const tag = (await read(path)).headers.get("etag") ?? "";
    expect(tag).toMatch(/^W\/"[^"]+"$/);
    for (const held of [tag, tag.slice(2), `"old", ${tag}`, "*"]) {
      const again = await read(path, { "if-none-match": held });
      expect([again.status, again.headers.get("etag"), await again.text()], held).toEqual([304, tag, ""]);
      expect(again.headers.get("cache-control")).toBe("private, no-cache");
    }
  });

  test("is 200 for a client that holds another tag", async () => {
    const { status, headers } = await read(path, { "if-none-match": 'W/"old"' });
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test("has for HEAD no body, but the length and the tag of GET", async () => {
    const full = await read(path);
    const { length } = Buffer.from(await full.arrayBuffer());
    const response = await read(path, {}, "HEAD");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("content-length")).toBe(String(length));
    expect(response.headers.get("etag")).toBe(full.headers.get("etag"));
  });

  test("is 503 while documents cannot reach its database", async () => {
    publisher.failure = new DomainError("unavailable", "the database cannot be reached");
    const response = await read(path);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });
});

const limits = ["0", "201", "-1", "1.0", "Infinity", "1e2", "0x10", "%205", "007", "5%0A", ""];
const waits = ["-1", "21", "1.5", "020", "Infinity", "1e1", "%205", ""];

/** A path as a title shows it. */
const shown = (path: string) => path.replace(documentId, "ID").replace(/x{9,}/, ({ length }) => `${length}x`);

describe("400", () => {
  const refused: [path: string, name: string][] = [
    ["/documents/x", "id"],
    [`/documents/${documentId}0`, "id"],
    ["/documents/x/versions", "id"],
    [`/documents/${documentId}/versions/0`, "n"],
    [`/documents/${documentId}/versions/01`, "n"],
    [`/documents/${documentId}/versions/1e3`, "n"],
    [`/documents/${documentId}/versions/9999999999999999`, "n"],
    [`/documents/${documentId}/versions/7?include=links`, "include"],
    [`/documents/${documentId}?include=`, "include"],
    [`/documents/${documentId}?include=links&include=links`, "include"],
    [`/documents/${documentId}?includes=links`, "includes"],
    [`/articles/slug/${"x".repeat(201)}`, "slug"],
    ["/articles/slug/a?include=all", "include"],
    ["/articles?type=core/tag", "type"],
    ["/articles?tag=", "tag"],
    ["/articles?site=a&site=b", "site"],
    ["/articles?language=", "language"],
    ["/articles?slug=", "slug"],
    ["/articles?updatedSince=yesterday", "updatedSince"],
    ["/articles?updatedSince=2026-02-30", "updatedSince"],
    ["/articles?updatedsince=2026-11-21", "updatedsince"],
    ["/articles?cursor=a&cursor=b", "cursor"],
    ["/site?host=", "host"],
    ["/site?hostname=a", "hostname"],
    ["/site?host=a&host=b", "host"],
    ["/changes?type=core/newswire", "type"],
    ["/changes?type=", "type"],
    ["/changes?since=a&since=b", "since"],
    [`/changes?since=${"x".repeat(257)}`, "since"],
    ["/changes?cursor=a", "cursor"],
    ...waits.map((wait): [string, string] => [`/changes?wait=${wait}`, "wait"]),
    ...["/articles", "/changes", `/documents/${documentId}/versions`].flatMap((path) =>
      limits.map((limit): [string, string] => [`${path}?limit=${limit}`, "limit"]),
    ),
  ];

  test.each(refused.map(([path, name]) => [shown(path), name, path]))(
    "%s is INVALID_QUERY and names %s",
    async (_, name, path) => {
      expect(await refusalOf(await read(path))).toEqual({
        status: 400,
        body: { ok: false, error: { code: "INVALID_QUERY", message: expect.stringContaining(`"${name}"`) } },
      });
      expect(publisher.asked).toEqual([]);
    },
  );
});

describe("404", () => {
  test.each(["", "/newswires", "/articles/ferry", "/articles/slug", "/sites/slug/a/b", "/documents", "/site/"])(
    "there is nothing at /v1/publisher%s",
    async (path) => {
      expect(await refusalOf(await read(path))).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } });
    },
  );
});
