import { openThreeNodes, type ThreeNodes } from "@vidimus/devstack/testing/three-nodes";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { article, type Publishing, runPublishing } from "./publishing.ts";

const type = "core/article";

/**
 * Walks of readers that follow the rules, while the primary steps down for a successor that has not
 * heard yet that a majority holds the last publications, and while the process that answers last
 * looked at the clock before them.
 */
export function describeFailoverWalks(rounds: number): void {
  let set: ThreeNodes;
  let publisher: Publishing;
  let other: Publishing;

  beforeAll(async () => {
    set = await openThreeNodes();
    publisher = await runPublishing({ mongoUrl: set.url, natsUrl: inject("natsUrl") });
    const { database } = publisher;
    other = await runPublishing({ mongoUrl: set.url, natsUrl: inject("natsUrl"), database });
  }, 120_000);
  afterAll(async () => {
    await other?.[Symbol.asyncDispose]();
    await publisher?.[Symbol.asyncDispose]();
    await set?.[Symbol.asyncDispose]();
  }, 60_000);

  async function publish(tenantId: string): Promise<string> {
    const id = await publisher.create(tenantId, article());
    await publisher.take(tenantId, id, "publish");
    return id;
  }

  async function pageOf(service: Publishing, tenantId: string, query: object = {}) {
    const request = { tenantId, type, limit: 50, ...query };
    const answer = await service.published.listPublishedDocuments(request, { timeoutMs: 30_000 });
    const items: { id: string; updated_at: string }[] = JSON.parse(Buffer.from(answer.itemsJson).toString() || "[]");
    return { ...answer, items, ids: items.map(({ id }) => id) };
  }

  const holdSnapshots = (mode: "alwaysOn" | "off") =>
    set.second.command({ configureFailPoint: "disableSnapshotting", mode });

  async function isPrimary({ command }: ThreeNodes["first"]): Promise<boolean> {
    const { isWritablePrimary } = (await command({ hello: 1 })) as { isWritablePrimary: boolean };
    return isWritablePrimary;
  }

  /** Reads of this database on the second node that have begun and wait. */
  async function waitsOnSecond(): Promise<number> {
    const { inprog } = (await set.second.command({
      currentOp: true,
      "command.$db": publisher.database,
      op: { $in: ["query", "command"] },
    })) as { inprog: { command?: { find?: string } }[] };
    return inprog.filter(({ command }) => command?.find !== undefined).length;
  }

  /** Makes the second node the primary, held, and releases it once `read` waits there or has ended. */
  async function readAcross<T>(read: () => Promise<T>): Promise<T> {
    await set.first.command({ replSetStepDown: 4, secondaryCatchUpPeriodSecs: 3 });
    await vi.waitFor(async () => expect(await isPrimary(set.second)).toBe(true), { timeout: 20_000, interval: 50 });
    let ended = false;
    const answer = read().finally(() => (ended = true));
    answer.catch(() => {});
    await vi.waitFor(async () => expect(ended || (await waitsOnSecond()) > 0).toBe(true), {
      timeout: 20_000,
      interval: 20,
    });
    await holdSnapshots("off");
    return answer;
  }

  async function untilFirstLeads(): Promise<void> {
    await vi.waitFor(async () => expect(await isPrimary(set.first)).toBe(true), { timeout: 40_000, interval: 100 });
  }

  test.each(Array.from({ length: rounds }, (_, round) => round))(
    "round %i: pages, catching up and tags lose no row, and never go back",
    async (round) => {
      const tenants = [`page_${round}`, `since_${round}`, `tag_${round}`] as const;
      await untilFirstLeads();
      const first = await Promise.all(tenants.map(publish));
      // The other process remembers this moment.
      await Promise.all(tenants.map((tenantId) => pageOf(other, tenantId)));
      await holdSnapshots("alwaysOn");
      const second = await Promise.all(tenants.map(publish));
      const third = await Promise.all(tenants.map(publish));
      const pages = await Promise.all(tenants.map((tenantId) => pageOf(publisher, tenantId, { limit: 1 })));
      const whole = await pageOf(publisher, tenants[2]);
      expect(pages.map(({ ids }) => ids)).toEqual(third.map((id) => [id]));

      const seconds = BigInt(Math.floor(Date.parse(pages[1]!.items[0]!.updated_at) / 1_000));
      const nanos = (Date.parse(pages[1]!.items[0]!.updated_at) % 1_000) * 1_000_000;
      const [next, since, tagged] = await readAcross(() =>
        Promise.all([
          pageOf(other, tenants[0], { limit: 1, cursor: pages[0]!.nextCursor }),
          pageOf(other, tenants[1], { updatedSince: { seconds, nanos } }),
          pageOf(other, tenants[2], { ifNoneMatch: whole.etag }),
        ]),
      );
      expect(next.ids).toEqual([second[0]]);
      expect(since.ids).toEqual([third[1]]);
      expect(tagged.notModified || tagged.ids.join() === [third[2], second[2], first[2]].join()).toBe(true);
      const last = await pageOf(other, tenants[0], { limit: 1, cursor: next.nextCursor });
      expect([last.ids, last.hasMore]).toEqual([[first[0]], false]);
    },
    120_000,
  );
}
