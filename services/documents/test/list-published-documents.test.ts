import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Item, type Publishing, runPublishing } from "./support/publishing.ts";

const type = "core/article";
let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

/** Publishes documents in groups; those of a group share their updated_at. */
async function publishGroups(tenantId: string, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) {
    const ids = await Promise.all(Array.from({ length: size }, () => service.create(tenantId, article())));
    const transitions = ids.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
    await service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
  }
}

async function page(tenantId: string, query: object) {
  const answer = await service.published.listPublishedDocuments({ tenantId, type, limit: 50, ...query });
  const items: Item[] = JSON.parse(Buffer.from(answer.itemsJson).toString() || "[]");
  return { ...answer, items };
}

async function walk(tenantId: string, limit: number, query: object = {}): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ;) {
    const next = await page(tenantId, { limit, cursor, ...query });
    expect(next.items.length).toBeLessThanOrEqual(limit);
    items.push(...next.items);
    if (!next.hasMore) return items;
    cursor = next.nextCursor;
  }
}

const tenantId = "ties";
let all: Item[];

describe("paging", () => {
  beforeAll(async () => {
    await publishGroups(tenantId, [1, 9, 30, 1, 1, 20]);
    all = await walk(tenantId, 200);
  });

  test("goes by updated_at and then by id, both descending", () => {
    const keys = all.map(({ updated_at, id }) => `${updated_at} ${id}`);
    expect(keys).toHaveLength(62);
    expect(new Set(all.map(({ updated_at }) => updated_at)).size).toBe(6);
    expect(keys).toEqual(keys.toSorted().toReversed());
  });

  test.each([1, 7, 19, 20, 61, 62, 63])("in pages of %i shows everything once, ties included", async (limit) => {
    expect(await walk(tenantId, limit)).toEqual(all);
  });

  test("has no more pages after a full last page", async () => {
    expect(await page(tenantId, { limit: 62 })).toMatchObject({ hasMore: false });
    expect(await page(tenantId, { limit: 61 })).toMatchObject({ hasMore: true });
  });

  test("updatedSince takes what was updated at that moment or later, and nothing before it", async () => {
    for (const stamp of new Set(all.map(({ updated_at }) => updated_at))) {
      const at = new Date(stamp);
      const updatedSince = timestampFromDate(at);
      expect(await walk(tenantId, 7, { updatedSince })).toEqual(all.filter(({ updated_at }) => updated_at >= stamp));
      const after = timestampFromDate(new Date(at.getTime() + 1));
      expect(await walk(tenantId, 7, { updatedSince: after })).toEqual(
        all.filter(({ updated_at }) => updated_at > stamp),
      );
    }
  });

  test.each(["nonsense", "W10", "x".repeat(5_000)])("a malformed cursor starts with the newest", async (cursor) => {
    expect((await page(tenantId, { cursor })).items).toEqual(all.slice(0, 50));
  });

  test("an empty page has no cursor", async () => {
    expect(await page("empty", {})).toMatchObject({ items: [], nextCursor: "", hasMore: false });
  });

  test("a page ends at 4 MiB, and the walk is complete all the same", async () => {
    const tenant = "large";
    const text = "x".repeat(700_000);
    const ids = await Promise.all(Array.from({ length: 13 }, () => service.create(tenant, article({ text }))));
    await Promise.all(ids.map((id) => service.take(tenant, id, "publish")));
    const first = await page(tenant, { limit: 200 });
    expect(first.items).toHaveLength(5);
    expect(first.hasMore).toBe(true);
    expect((await walk(tenant, 200)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });
});

describe("what is shown", () => {
  test("is what the tenant has of the type in the state usable", async () => {
    const tenant = "shown";
    const [out, withheld, killed, foreign] = await Promise.all([
      service.create(tenant, article()),
      service.create(tenant, article()),
      service.create(tenant, article()),
      service.create("other", article()),
      service.create(tenant, article()),
    ]);
    const tag = { ...article(), type: "core/tag", content: { name: "Snow" } };
    const tagId = await service.create(tenant, tag);
    for (const id of [out, withheld, killed, tagId]) await service.take(tenant, id, "publish");
    await service.take("other", foreign, "publish");
    await service.take(tenant, withheld, "withhold");
    await service.take(tenant, killed, "kill");
    expect((await service.list(tenant)).map(({ id }) => id)).toEqual([out]);
    expect((await service.list(tenant, "core/tag")).map(({ id }) => id)).toEqual([tagId]);
  });

  test.each(["core/newswire", "core/unknown", ""])("is never of type %j, which is refused", async (newswire) => {
    const asked = service.published.listPublishedDocuments({ tenantId, type: newswire, limit: 50 });
    await expect(asked).rejects.toThrow("type is not a publishable one");
  });
});

describe("the tag of a page", () => {
  test("is valid until something of the type is published or withdrawn, and for no other query", async () => {
    const tenant = "tags";
    await publishGroups(tenant, [2]);
    const { etag, items } = await page(tenant, {});
    expect(await page(tenant, { ifNoneMatch: etag })).toMatchObject({ notModified: true, items: [] });
    expect(await page(tenant, { ifNoneMatch: etag, limit: 51 })).toMatchObject({ notModified: false });
    await service.create(tenant, article());
    const tag = await service.create(tenant, { ...article(), type: "core/tag", content: { name: "Snow" } });
    await service.take(tenant, tag, "publish");
    expect(await page(tenant, { ifNoneMatch: etag })).toMatchObject({ notModified: true });
    await service.take(tenant, items[0]!.id, "withhold");
    const changed = await page(tenant, { ifNoneMatch: etag });
    expect(changed.notModified).toBe(false);
    expect(changed.items.map(({ id }) => id)).toEqual([items[1]!.id]);
  });

  test("is invalid as soon as a later publication was acknowledged", async () => {
    const tenant = "fresh";
    await publishGroups(tenant, [1]);
    for (let round = 0; round < 20; round += 1) {
      const { etag } = await page(tenant, {});
      const id = await service.create(tenant, article());
      const crowd = Array.from({ length: 8 }, () => page(tenant, { ifNoneMatch: etag }));
      await service.take(tenant, id, "publish");
      expect((await page(tenant, { ifNoneMatch: etag })).notModified).toBe(false);
      await Promise.all(crowd);
    }
  });

  test("is compared in one call with tags of other pages, and each gets an answer of its own", async () => {
    for (const tenant of ["own", "other"]) await publishGroups(tenant, [1]);
    const held = async (tenant: string, query: object) => {
      const { etag } = await page(tenant, query);
      return { tenantId: tenant, type, limit: 50, ...query, ifNoneMatch: etag };
    };
    const [first, second, other] = [await held("own", {}), await held("own", { limit: 7 }), await held("other", {})];
    const stale = { ...first, ifNoneMatch: other.ifNoneMatch };
    const wrong = { ...first, type: "core/newswire" };
    const pages = [first, wrong, other, stale, second];
    const ask = async () => (await service.published.revalidatePublishedPages({ pages })).etags;
    expect(await ask()).toEqual([first.ifNoneMatch, "", other.ifNoneMatch, "", second.ifNoneMatch]);
    await publishGroups("own", [1]);
    expect(await ask()).toEqual(["", "", other.ifNoneMatch, "", ""]);
    for (const count of [0, 65]) {
      const many = service.published.revalidatePublishedPages({ pages: Array.from({ length: count }, () => first) });
      await expect(many, String(count)).rejects.toThrow("1 to 64");
    }
  });
});
