/** What a long backlog costs: of many documents at the start of delivery, and of one document. */
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { openLedgerReceiver } from "../support/delivery-ledger.ts";
import { type DeliveryStack, openDeliveryStack } from "../support/delivery-stack.ts";
import { PublishingRun } from "../support/publishing-run.ts";

// These deadlines are to end only what hangs: at a load of 15 on two cores the second test takes
// 130 s.
const timeoutMs = 300_000;
const waitMs = 180_000;
const opened = new AsyncDisposableStack();
let stack: DeliveryStack;
let mongo: MongoClient;

beforeAll(async () => {
  mongo = await new MongoClient(inject("mongoUrl")).connect();
  opened.defer(() => mongo.close());
  stack = opened.use(await openDeliveryStack({ mongoUrl: inject("mongoUrl") }));
});
afterAll(() => opened.disposeAsync());

it(
  "each of 10,000 snapshots that are pending when delivery starts is signed and posted once",
  { timeout: timeoutMs },
  async () => {
    const tenantId = "backlog";
    await using own = await openLedgerReceiver();
    await stack.createEndpoint(tenantId, own.url);
    await Promise.all(stack.deliveries.map((each) => each.stop()));
    const run = new PublishingRun(stack.editor);
    await run.advance(await run.create(tenantId, 10_000), 1);
    await Promise.all(stack.deliveries.map((each) => each.start()));
    await own.ledger.expectDelivered(run.published, { each: true, ms: waitMs });
    await stack.untilSettled();
    expect(own.ledger.posts).toHaveLength(10_000);
    const batches = mongo.db(stack.databases.signing).collection("ledger");
    const signatures = { $group: { _id: "$entries.snapshotKey", count: { $sum: 1 } } };
    const byCount = { $group: { _id: "$count", snapshots: { $sum: 1 } } };
    const signed = await batches.aggregate([{ $unwind: "$entries" }, signatures, byCount]).toArray();
    expect(signed).toEqual([{ _id: 1, snapshots: 10_000 }]);
  },
);

describe("the backlog of a document whose snapshots were all refused", { timeout: timeoutMs }, () => {
  /** Commands that MongoDB has executed on the collections of delivery. */
  async function commands(): Promise<number> {
    const { totals } = (await mongo.db("admin").command({ top: 1 })) as {
      totals: Record<string, { total?: { count: number } }>;
    };
    const own = Object.entries(totals).filter(([name]) => name.startsWith(`${stack.databases.delivery}.`));
    return own.reduce((sum, [, { total }]) => sum + (total?.count ?? 0), 0);
  }

  /**
   * Refuses `count` snapshots of one document, then accepts. Returns the commands and posts that
   * the drain cost for each snapshot.
   */
  async function drain(tenantId: string, count: number) {
    await using own = await openLedgerReceiver();
    own.answerWith((_post, response) => response.writeHead(500).end());
    await stack.createEndpoint(tenantId, own.url);
    const run = new PublishingRun(stack.editor);
    const [document] = await run.create(tenantId, 1);
    await run.advance([document!], 1);
    await vi.waitUntil(() => own.ledger.posts.length > 0, { timeout: 20_000 });
    await stack.untilSettled();
    const snapshots = mongo.db(stack.databases.documents).collection("snapshots");
    const { _id, signature: _signature, ...row } = (await snapshots.findOne({ documentId: document!.documentId }))!;
    const first = row["committedAt"] as Date;
    const more = Array.from({ length: count - 1 }, (_, at) => {
      return { ...row, sequence: at + 2, committedAt: new Date(first.getTime() + at + 1), pending: true };
    });
    await snapshots.insertMany(more);
    const heads = mongo.db(stack.databases.documents).collection("heads");
    await heads.updateOne({ documentId: document!.documentId }, { $set: { "lastPublished.sequence": count } });
    await stack.untilSettled(waitMs);
    const refused = () => new Set(own.ledger.posts.map(({ sequence }) => sequence)).size;
    await vi.waitUntil(() => refused() >= count, { timeout: waitMs, interval: 100 });
    const before = { commands: await commands(), posts: own.ledger.posts.length };
    own.answerWith((_post, response) => response.writeHead(204).end());
    document!.sequence = count;
    await run.advance([document!], count + 1);
    await own.ledger.expectDelivered(run.published, { ms: waitMs });
    await stack.untilSettled();
    return {
      commands: ((await commands()) - before.commands) / count,
      posts: (own.ledger.posts.length - before.posts) / count,
    };
  }

  it("is drained with MongoDB commands and posts in proportion to its length", async () => {
    // The counts are odd, so that the step after these is a withdrawal.
    const few = await drain("few", 501);
    const many = await drain("many", 5_001);
    expect(many.posts).toBeLessThan(1.05);
    expect(many.commands).toBeLessThan(1.5 * few.commands);
  });
});
