import { profiled } from "@vidimus/devstack/testing/profile";
import { DomainError } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
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
    const items = [
      byId("one", withdrawn),
      byId("one", live),
      byId("one", randomUUID()),
      byId("one", foreign),
      byId("two", foreign),
      { tenantId: "one", by: { case: "slug" as const, value: { type: "core/article", slug: "here" } } },
      byId("one", live, { ifNoneMatch: single.etag }),
      byId("one", live),
    ];
    const outcomes = await ask(items);
    const kinds = outcomes.map(({ case: kind, value }) => (kind === "error" ? value.kind : kind));
    const found = "found";
    expect(kinds).toEqual(["gone", found, "not_found", "not_found", found, found, found, found]);
    expect(outcomes[6]!.value).toMatchObject({ notModified: true, etag: single.etag });
    const singles = items.map((each) => service.published.getPublishedDocument(each).catch(fromConnectError));
    for (const [at, answer] of (await Promise.all(singles)).entries()) {
      if (answer instanceof DomainError)
        expect(outcomes[at]!.value).toMatchObject({ kind: answer.kind, message: answer.message });
      else expect(outcomes[at]!.value).toEqual(answer);
    }
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

  test("answers as many documents as fit in 4 MiB, and a second call answers the others", async () => {
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

  test("answers 64 items with two reads of publications and one of retired slugs", async () => {
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
