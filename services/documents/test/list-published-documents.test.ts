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

describe("in a walk through pages", () => {
  beforeAll(async () => {
    await publishGroups(tenantId, [1, 9, 30, 1, 1, 20]);
    all = await walk(tenantId, 200);
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

  test("a page ends at 4 MiB without a loss of documents", async () => {
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

test.each(["core/newswire", "core/unknown", ""])("a list of type %j is refused", async (type) => {
  const asked = service.published.listPublishedDocuments({ tenantId, type, limit: 50 });
  await expect(asked).rejects.toThrow("type is not a publishable one");
});

describe("the tag of a page", () => {
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

  test("is revalidated in one call with tags of other pages and tenants, each answered at its position", async () => {
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
  });

  test.each([0, 65])("is revalidated in calls of 1 to 64 tags, so a call of %i is refused", async (count) => {
    const pages = Array.from({ length: count }, () => ({ tenantId: "own", type, limit: 50, ifNoneMatch: '"x"' }));
    await expect(service.published.revalidatePublishedPages({ pages })).rejects.toThrow("1 to 64");
  });
});
