import { Code, ConnectError } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;
let gateway: Edge["gateway"];
let documents: Edge["documents"];
let key: string;

beforeAll(async () => {
  edge = await openEdge();
  ({ documents, gateway, key } = edge);
});

afterAll(() => edge[Symbol.asyncDispose]());

beforeEach(() => {
  documents.lists.length = 0;
  documents.revalidated.length = 0;
  documents.listFailure = undefined;
  documents.page = { itemsJson: '[{"id":"a", "n":1.50}]', nextCursor: 'c"1', hasMore: true, etag: 'W/"p1"' };
});

const get = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/documents${query}`, { headers: { ...bearer(key), ...headers } });

describe("200", () => {
  test("the items are answered byte for byte as documents sends them", async () => {
    const response = await get("?type=core/article");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      String.raw`{"ok":true,"data":{"items":[{"id":"a", "n":1.50}],"nextCursor":"c\"1","hasMore":true}}`,
    );
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(response.headers.get("etag")).toBe('W/"p1"');
  });

  test("type, limit, cursor and updatedSince are passed on to documents", async () => {
    await get("?type=core/image&status=usable&limit=200&cursor=abc&updatedSince=2026-11-21T09:30:00%2B02:00");
    const [asked] = documents.lists;
    expect(asked).toMatchObject({ tenantId: "acme", type: "core/image", limit: 200, cursor: "abc" });
    expect(timestampDate(asked!.updatedSince!).toISOString()).toBe("2026-11-21T07:30:00.000Z");
  });

  test("updatedSince is passed on to documents rounded up to a millisecond", async () => {
    expect((await get("?type=core/tag&updatedSince=2026-11-21T09:30:00.0001Z")).status).toBe(200);
    expect(timestampDate(documents.lists[0]!.updatedSince!).toISOString()).toBe("2026-11-21T09:30:00.001Z");
  });

  test("a query with only a type asks for the first 50 items, without updatedSince", async () => {
    await get("?type=core/tag");
    const [asked] = documents.lists;
    expect(asked).toMatchObject({ type: "core/tag", limit: 50, cursor: "" });
    expect(asked!.updatedSince).toBeUndefined();
  });

  test.each([
    ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"],
    ["9999-12-31T23:59:59-05:00", "9999-12-31T23:59:59.999Z"],
    ["0000-01-01", "0001-01-01T00:00:00.000Z"],
    ["0001-01-01T00:00:00%2B02:00", "0001-01-01T00:00:00.000Z"],
  ])("updatedSince=%s is limited to the years 1 to 9999, those of RPC timestamps", async (text, instant) => {
    expect((await get(`?type=core/tag&updatedSince=${text}`)).status).toBe(200);
    expect(timestampDate(documents.lists[0]!.updatedSince!).toISOString()).toBe(instant);
  });

  test("an unescaped + in updatedSince, which arrives as a space, is read as +", async () => {
    expect((await get("?type=core/tag&updatedSince=2026-11-21T09:30:00+02:00")).status).toBe(200);
    expect(timestampDate(documents.lists[0]!.updatedSince!).toISOString()).toBe("2026-11-21T07:30:00.000Z");
  });

  test("a long and malformed cursor is passed on to documents unchanged", async () => {
    const cursor = "%%%/" + "x".repeat(4_000);
    expect((await get(`?type=core/tag&cursor=${encodeURIComponent(cursor)}`)).status).toBe(200);
    expect(documents.lists[0]!.cursor).toBe(cursor);
  });
});

describe("304", () => {
  test("a page whose current tag the client holds is not sent again", async () => {
    const response = await get("?type=core/article", { "if-none-match": 'W/"p1"' });
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
    expect(response.headers.get("etag")).toBe('W/"p1"');
    expect(documents.revalidated[0]!.ifNoneMatch).toBe('W/"p1"');
    expect(documents.lists).toEqual([]);
  });
});

describe("504 and 503", () => {
  test("DEADLINE_EXCEEDED from documents is answered TIMEOUT", async () => {
    documents.listFailure = new ConnectError("late", Code.DeadlineExceeded);
    const response = await get("?type=core/tag");
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { code: "TIMEOUT" } });
  });

  test("UNAVAILABLE from documents is answered UNAVAILABLE with Retry-After", async () => {
    documents.listFailure = new ConnectError("gone", Code.Unavailable);
    const response = await get("?type=core/tag");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ error: { code: "UNAVAILABLE" } });
  });
});
