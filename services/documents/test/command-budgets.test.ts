/** How many commands an operation costs. Unlike times, counts do not depend on the machine. */
import { type CommandCounter, countCommands } from "@vidimus/devstack/testing/count-commands";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

let commands: CommandCounter;
let service: Publishing;

beforeAll(async () => {
  commands = countCommands("vidimus-documents");
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  commands[Symbol.dispose]();
});

async function publish(tenantId: string, document: { id: string } = article()): Promise<string> {
  await service.create(tenantId, document);
  await service.take(tenantId, document.id, "publish");
  return document.id;
}

/** A primary site with this host, that may be published. */
function site(host: string) {
  return { ...article({ meta: { hosts: [host], primary: true } }), type: "core/publisher-site", content: {} };
}

const bySlug = (id: string) => ({ case: "slug" as const, value: { type: "core/article", slug: `snow-${id}` } });

describe("intake", () => {
  const batch = (tenantId: string, count: number) => {
    const draft = () => ({ documentJson: Buffer.from(JSON.stringify(article())) });
    const items = Array.from({ length: count }, () => ({ tenantId, draft: draft() }));
    return service.documents.batchCreateDocuments({ items });
  };

  test.each([1, 64])("in a call of size %i is one insert, while the tenant's types are known", async (count) => {
    // The registry reads a tenant's types again after a second, which adds a command.
    const cost = () => commands.during(() => batch("intake", count));
    await expect.poll(cost, { timeout: 20_000 }).toEqual(["insert heads"]);
  });
});

describe("a read", () => {
  test("by id is one find", async () => {
    const documentId = await publish("by_id");
    const by = { case: "documentId" as const, value: documentId };
    const read = () => service.published.getPublishedDocument({ tenantId: "by_id", by });
    expect(await commands.during(read)).toEqual(["find publications"]);
  });

  test.each([
    ["by its host", "site_by_host", "budget.example"],
    ["as the primary one", "primary_site", ""],
  ])("of a site %s is one find", async (_, tenantId, host) => {
    await publish(tenantId, site("budget.example"));
    const read = () => service.published.getPublishedSite({ tenantId, host });
    expect(await commands.during(read)).toEqual(["find publications"]);
  });

  test("of 64 slugs in one call, one retired and one unknown, is at most three finds", async () => {
    const tenantId = "slugs";
    const ids = await Promise.all(Array.from({ length: 62 }, () => publish(tenantId)));
    const withdrawn = await publish(tenantId);
    await service.take(tenantId, withdrawn, "withhold");
    const items = [...ids, withdrawn, "unknown"].map((id) => ({ tenantId, by: bySlug(id) }));
    const outcomes: unknown[] = [];
    const cost = await commands.during(async () => {
      const { results } = await service.published.batchGetPublishedDocuments({ items });
      outcomes.push(...results.map(({ outcome }) => (outcome.case === "error" ? outcome.value.kind : outcome.case)));
    });
    expect(outcomes).toEqual([...ids.map(() => "found"), "gone", "not_found"]);
    expect(new Set(cost.map((command) => command.split(" ")[0]))).toEqual(new Set(["find"]));
    expect(cost.length).toBeLessThanOrEqual(3);
  });

  test("of 256 snapshots is one find", async () => {
    const tenantId = "burst";
    const documentId = await publish(tenantId);
    const snapshots = service.db.collection("snapshots");
    const row = await snapshots.findOne({ tenantId, documentId }, { projection: { _id: 0 } });
    const rows = Array.from({ length: 256 }, () => ({ ...row, documentId: randomUUID() }));
    await snapshots.insertMany(rows);
    const references = rows.map((each) => ({ tenantId, documentId: each.documentId, sequence: 1n }));
    const found: unknown[] = [];
    const cost = await commands.during(async () => {
      found.push(...(await service.feed.getSnapshots({ references })).snapshots);
    });
    expect(found).toHaveLength(256);
    expect(cost).toEqual(["find snapshots"]);
  });

  test("of the newest page, after a publication by the same process, is one find, also when repeated", async () => {
    const tenantId = "newest";
    await publish(tenantId);
    expect(await commands.during(() => service.list(tenantId))).toEqual(["find publications"]);
    expect(await commands.during(() => service.list(tenantId))).toEqual(["find publications"]);
  });

  test("that revalidates the tags of 64 unchanged pages of a tenant is one find", async () => {
    const tenantId = "tags";
    await publish(tenantId);
    const page = (limit: number) => ({ tenantId, type: "core/article", limit });
    const held = await Promise.all(
      Array.from({ length: 64 }, async (_, at) => {
        const { etag } = await service.published.listPublishedDocuments(page(at + 1));
        return { ...page(at + 1), ifNoneMatch: etag };
      }),
    );
    const etags: string[] = [];
    const cost = await commands.during(async () => {
      etags.push(...(await service.published.revalidatePublishedPages({ pages: held })).etags);
    });
    expect(etags).toEqual(held.map(({ ifNoneMatch }) => ifNoneMatch));
    expect(cost).toEqual(["find clocks"]);
  });
});

/** The commands with which every publication and withdrawal begins, and those that follow. */
const begin = ["find heads", "findAndModify clocks"];
const write = (publications: "insert" | "update") => [
  "update heads",
  "insert history",
  `${publications} publications`,
  "insert snapshots",
];
const first = [...begin, ...write("insert"), "commitTransaction"];
const again = [...begin, ...write("update"), "commitTransaction"];

describe("a single transition", () => {
  const tenantId = "single";
  const take = (id: string, name: string, version?: number) => service.take(tenantId, id, name, version);
  const cost = (id: string, name: string, version?: number) => commands.during(() => take(id, name, version));

  async function edit(id: string, seen: number, slug?: string): Promise<void> {
    const documentJson = Buffer.from(JSON.stringify(article({ id, text: `Text ${seen}.`, ...(slug && { slug }) })));
    const request = { tenantId, documentId: id, expectedVersion: BigInt(seen), documentJson };
    await service.documents.updateDocument(request, as("editor"));
  }

  test("that publishes is seven commands, the commit included", async () => {
    const id = await service.create(tenantId, article());
    expect(await cost(id, "publish")).toEqual(first);
    expect(first).toHaveLength(7);
    await edit(id, 1);
    expect(await cost(id, "publish", 2)).toEqual(again);
    expect(again).toHaveLength(7);
  });

  test("that publishes a site is eight commands: one more looks who has its hosts", async () => {
    const id = await service.create(tenantId, site("budget.example"));
    const withLook = [...begin, "find publications", ...write("insert"), "commitTransaction"];
    expect(await cost(id, "publish")).toEqual(withLook);
    expect(withLook).toHaveLength(8);
  });

  test("that retires a document's slug is eight commands: one more stores the slug", async () => {
    const id = await publish(tenantId);
    await edit(id, 1, "another");
    const retiring = [...begin, ...write("update"), "update slugs", "commitTransaction"];
    expect(retiring).toHaveLength(8);
    expect(await cost(id, "publish", 2)).toEqual(retiring);
    expect(await cost(id, "withhold", 2)).toEqual(retiring);
  });

  test("that would publish a taken slug is refused by a second attempt, which reads the slug's holder", async () => {
    await publish(tenantId, article({ slug: "taken" }));
    const id = await service.create(tenantId, article({ slug: "taken" }));
    const refusal = (): Promise<unknown> =>
      expect(take(id, "publish")).rejects.toThrow("is the slug of published document");
    expect(await commands.during(refusal)).toEqual([
      ...begin,
      ...write("insert").slice(0, 3),
      "abortTransaction",
      ...begin,
      "find publications",
      "abortTransaction",
    ]);
  });

  test("that readers do not see is four commands", async () => {
    const id = await service.create(tenantId, article());
    expect(await cost(id, "submit")).toEqual(["find heads", "update heads", "insert history", "commitTransaction"]);
  });
});

test("64 first publications in one call take the commands of a single one", async () => {
  const tenantId = "batch";
  const ids = await Promise.all(Array.from({ length: 64 }, () => service.create(tenantId, article())));
  const transitions = ids.map((documentId) => ({ documentId, name: "publish", expectedVersion: 1n }));
  const call = () => service.documents.batchTransitionDocuments({ tenantId, transitions }, as("editor"));
  expect(await commands.during(call)).toEqual(first);
});
