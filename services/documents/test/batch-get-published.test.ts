import { profiled } from "@vidimus/devstack/testing/profile";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

let service: Publishing;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(() => service[Symbol.asyncDispose]());

async function publish(tenantId: string, document: object): Promise<string> {
  const id = await service.create(tenantId, document);
  await service.take(tenantId, id, "publish");
  return id;
}

const byId = (tenantId: string, id: string, more: object = {}) => ({
  tenantId,
  by: { case: "documentId" as const, value: id },
  ...more,
});

async function ask(items: Parameters<typeof service.published.batchGetPublishedDocuments>[0]["items"] & object) {
  const { results } = await service.published.batchGetPublishedDocuments({ items });
  return results.map(({ outcome }) => outcome);
}

describe("a batch of documents", () => {
  test("answers each item as the single call does, whatever becomes of the other items", async () => {
    const live = await publish("one", article({ slug: "here" }));
    const withdrawn = await publish("one", article());
    await service.take("one", withdrawn, "withhold");
    const foreign = await publish("two", article());
    const single = await service.published.getPublishedDocument(byId("one", live));
    const outcomes = await ask([
      byId("one", withdrawn),
      byId("one", live),
      byId("one", randomUUID()),
      byId("one", foreign),
      byId("two", foreign),
      { tenantId: "one", by: { case: "slug", value: { type: "core/article", slug: "here" } } },
      byId("one", live, { ifNoneMatch: single.etag }),
      byId("one", live),
    ]);
    const kinds = outcomes.map(({ case: kind, value }) => (kind === "error" ? value.kind : kind));
    const found = "found";
    expect(kinds).toEqual(["gone", found, "not_found", "not_found", found, found, found, found]);
    expect(outcomes[1]!.value).toEqual(single);
    expect(outcomes[5]!.value).toEqual(single);
    expect(outcomes[6]!.value).toMatchObject({ notModified: true, etag: single.etag });
    expect(outcomes[7]!.value).toEqual(single);
  });

  test("has linked documents only in the answers to items that ask for them", async () => {
    const linked = await publish("three", article());
    const links = [{ rel: "related", type: "core/article", id: linked }];
    const id = await publish("three", article({ links }));
    const [plain, including] = await ask([byId("three", id), byId("three", id, { includeLinks: true })]);
    expect(plain).toMatchObject({ case: "found", value: { includedJson: new Uint8Array() } });
    const { includedJson } = including!.value as { includedJson: Uint8Array };
    expect(Object.keys(JSON.parse(Buffer.from(includedJson).toString()))).toEqual([linked]);
  });

  test("ends at 4 MiB, so that a call for the remaining documents answers these", async () => {
    const text = "x".repeat(900_000);
    const ids = await Promise.all(Array.from({ length: 7 }, () => publish("large", article({ text }))));
    const seen: string[] = [];
    const sizes: number[] = [];
    while (seen.length < ids.length) {
      const outcomes = await ask(ids.slice(seen.length).map((id) => byId("large", id)));
      sizes.push(outcomes.length);
      for (const { value } of outcomes) {
        const { documentJson } = value as { documentJson: Uint8Array };
        seen.push(JSON.parse(Buffer.from(documentJson).toString()).id);
      }
    }
    expect(seen).toEqual(ids);
    expect(sizes).toEqual([4, 3]);
  });

  test("finds 64 documents with one read of current slugs, one of retired slugs and one of documents", async () => {
    const slugs = Array.from({ length: 61 }, (_, n) => `batch-${n}`);
    const ids = await Promise.all(slugs.map((slug) => publish("four", article({ slug }))));
    const site = await publish("four", { ...article({ slug: "batch-0" }), type: "core/tag" });
    const bySlug = (slug: string, type = "core/article") => ({
      tenantId: "four",
      by: { case: "slug" as const, value: { type, slug } },
    });
    const items = [
      ...slugs.map((slug) => bySlug(slug)),
      bySlug("batch-0", "core/tag"),
      bySlug("none"),
      byId("four", ids[7]!),
    ];
    const { db, database } = service;
    const finds = { op: "query", ns: { $in: [`${database}.slugs`, `${database}.publications`] } };
    const { result: outcomes, entries: reads } = await profiled(db, finds, () => ask(items));
    const found = outcomes.map(({ case: kind, value }) =>
      kind === "found" ? JSON.parse(Buffer.from(value.documentJson).toString()).id : value?.kind,
    );
    expect(found).toEqual([...ids, site, "not_found", ids[7]]);
    const read: string[] = reads.map(({ ns }) => ns);
    expect(read.toSorted()).toEqual([`${database}.publications`, `${database}.publications`, `${database}.slugs`]);
  });
});
