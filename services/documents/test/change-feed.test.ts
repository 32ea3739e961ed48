import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

interface Change {
  change: "upsert" | "withdraw";
  id: string;
  type: string;
  version: number;
  sequence: number;
  updated_at: string;
  document?: { id: string; updated_at: string; meta: { status: string } };
}

let service: Publishing;
const started = () => runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });

beforeAll(async () => {
  service = await started();
});
afterAll(() => service[Symbol.asyncDispose]());

async function changes(tenantId: string, since = "", more: object = {}, of = service) {
  const answer = await of.published.listPublishedChanges(
    { tenantId, since, limit: 50, ...more },
    { timeoutMs: 25_000 },
  );
  const items: Change[] = JSON.parse(Buffer.from(answer.itemsJson).toString());
  return { ...answer, items };
}

async function publish(tenantId: string, document: object = article(), of = service): Promise<string> {
  const id = await of.create(tenantId, document);
  await of.take(tenantId, id, "publish");
  return id;
}

const tag = () => ({ ...article(), type: "core/tag", content: { name: "Snow" } });
const newswire = () => ({ ...article(), type: "core/newswire", meta: { source: "AP" } });
const summary = ({ items }: { items: Change[] }) => items.map(({ change, id, sequence }) => [change, id, sequence]);

describe("the feed", () => {
  test("begins with exactly the documents that are published, oldest first", async () => {
    const tenantId = "begin";
    const [first, withheld, second] = [await publish(tenantId), await publish(tenantId), await publish(tenantId)];
    await service.take(tenantId, withheld, "withhold");
    const begun = await changes(tenantId);
    expect(summary(begun)).toEqual([
      ["upsert", first, 1],
      ["upsert", second, 1],
    ]);
  });

  test("shows a published document as a whole, with its type and version", async () => {
    const tenantId = "whole";
    const value = await publish(tenantId);
    const [item] = (await changes(tenantId)).items;
    const { documentJson } = await service.published.getPublishedDocument({
      tenantId,
      by: { case: "documentId", value },
    });
    expect(item?.document).toEqual(JSON.parse(Buffer.from(documentJson).toString()));
    expect(item).toMatchObject({ type: "core/article", version: 1, updated_at: item?.document?.updated_at });
  });

  test("continues with what was published and withdrawn since, each document once in its current state", async () => {
    const tenantId = "go_on";
    const [first, second] = [await publish(tenantId), await publish(tenantId)];
    const { since } = await changes(tenantId);
    expect(await changes(tenantId, since)).toMatchObject({ items: [], since, hasMore: false });
    await service.take(tenantId, first, "withhold");
    await service.take(tenantId, first, "publish");
    await service.take(tenantId, second, "kill");
    const next = await changes(tenantId, since);
    expect(summary(next)).toEqual([
      ["upsert", first, 3],
      ["withdraw", second, 2],
    ]);
    expect(next.items[1]).toMatchObject({ type: "core/article", version: 1 });
    expect(next.items[1]).not.toHaveProperty("document");
    expect((await changes(tenantId, next.since)).items).toEqual([]);
  });

  test("shows withdrawals that happen between a reader's first two pages", async () => {
    const tenantId = "beginning";
    const [first, second] = [await publish(tenantId), await publish(tenantId)];
    const page = await changes(tenantId, "", { limit: 1 });
    expect(page.hasMore).toBe(true);
    await service.take(tenantId, first, "withhold");
    await service.take(tenantId, second, "withhold");
    expect(summary(await changes(tenantId, page.since))).toEqual([
      ["withdraw", first, 2],
      ["withdraw", second, 2],
    ]);
  });

  test("narrowed to a type shows withdrawals of that type only", async () => {
    const tenantId = "typed";
    const [tagId, articleId] = [await publish(tenantId, tag()), await publish(tenantId)];
    const { since } = await changes(tenantId, "", { type: "core/tag" });
    await service.take(tenantId, articleId, "withhold");
    await service.take(tenantId, tagId, "withhold");
    const { items } = await changes(tenantId, since, { type: "core/tag" });
    expect(items.map(({ change, id, type }) => [change, id, type])).toEqual([["withdraw", tagId, "core/tag"]]);
  });

  test("shows no document of another tenant", async () => {
    const { since } = await changes("hidden_rival");
    await publish("hidden_from_rival");
    expect((await changes("hidden_rival", since)).items).toEqual([]);
  });

  test("shows a newswire neither when it is published nor when it is withdrawn", async () => {
    const tenantId = "hidden";
    const { since } = await changes(tenantId);
    const wire = await publish(tenantId, newswire());
    expect((await changes(tenantId, since)).items).toEqual([]);
    await service.take(tenantId, wire, "withhold");
    expect((await changes(tenantId, since)).items).toEqual([]);
  });

  test("ends a page at 4 MiB, and continues on the next one", async () => {
    const tenantId = "paged";
    const text = "x".repeat(900_000);
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) ids.push(await publish(tenantId, article({ text })));
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let since = ""; ;) {
      const page = await changes(tenantId, since);
      seen.push(...page.items.map(({ id }) => id));
      sizes.push(page.items.length);
      if (!page.hasMore) break;
      since = page.since;
    }
    expect(sizes).toEqual([4, 2]);
    expect(seen).toEqual(ids);
  });

  test.each(["nonsense", "W10", Buffer.from("[1,0]").toString("base64url")])("refuses token %j", async (since) => {
    await expect(changes("any", since)).rejects.toThrow("since must be a token");
  });

  test.each([
    ["a limit above 200", { limit: 201 }, "limit"],
    ["a wait above 20 s", { waitMs: 20_001 }, "wait_ms"],
    ["a type that readers may not see", { type: "core/newswire" }, "type"],
  ])("refuses %s", async (_, query, words) => {
    await expect(changes("any", "", query)).rejects.toThrow(words);
  });

  test("shows documents also for a limit of 0", async () => {
    const id = await publish("no_limit");
    expect(summary(await changes("no_limit", "", { limit: 0 }))).toEqual([["upsert", id, 1]]);
  });
});

describe("a reader who waits", () => {
  test("is answered by the next publication, also one of another replica", async () => {
    const tenantId = "waiting";
    await using other = await runPublishing({
      mongoUrl: inject("mongoUrl"),
      natsUrl: inject("natsUrl"),
      database: service.database,
    });
    let { since } = await changes(tenantId);
    for (const of of [service, other]) {
      const waiting = changes(tenantId, since, { waitMs: 20_000 });
      const id = await publish(tenantId, article(), of);
      const answer = await waiting;
      expect(summary(answer)).toEqual([["upsert", id, 1]]);
      since = answer.since;
    }
  });

  test("at a replica without the broker is answered by another replica's publication", async () => {
    const tenantId = "no_broker";
    const options = { mongoUrl: inject("mongoUrl"), natsUrl: "nats://127.0.0.1:1", database: service.database };
    await using deaf = await runPublishing(options);
    const { since } = await changes(tenantId);
    const waiting = changes(tenantId, since, { waitMs: 20_000 }, deaf);
    const id = await publish(tenantId);
    expect(summary(await waiting)).toEqual([["upsert", id, 1]]);
  });

  test("gets an empty answer when only other tenants and types publish", async () => {
    const tenantId = "quiet";
    const { since } = await changes(tenantId, "", { type: "core/tag" });
    const waiting = changes(tenantId, since, { type: "core/tag", waitMs: 300 });
    await publish(tenantId);
    await publish("loud", tag());
    expect(await waiting).toMatchObject({ items: [], hasMore: false });
  });

  test("is answered when the service stops, not cut off", async () => {
    const stopping = await started();
    const { since } = await changes("stop", "", {}, stopping);
    const waiting = changes("stop", since, { waitMs: 20_000 }, stopping);
    // The waiting call was sent first on the same connection, so it has arrived once this call is
    // answered.
    await stopping.list("stop");
    await stopping[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ items: [], since, hasMore: false });
  });
});
