/**
 * Processes are killed in the middle of 2,000 snapshots of five tenants. Each snapshot is
 * delivered, in its document's order, and a repeat is the same webhook.
 */
import { openThreeNodes, type ThreeNodes } from "@vidimus/devstack/testing/three-nodes";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type DeliveryStack, openDeliveryStack } from "../support/delivery-stack.ts";
import { type LedgerReceiver, openLedgerReceiver } from "../support/delivery-ledger.ts";
import { PublishingRun } from "../support/publishing-run.ts";

const tenants = ["north", "south", "east", "west", "centre"] as const;
const documentsEach = 100;
const snapshotsEach = 4;
const total = tenants.length * documentsEach * snapshotsEach;
const timeoutMs = 120_000;

const opened = new AsyncDisposableStack();
let nodes: ThreeNodes;
let stack: DeliveryStack;
let receiver: LedgerReceiver;

beforeAll(async () => {
  nodes = opened.use(await openThreeNodes());
  receiver = opened.use(await openLedgerReceiver());
  stack = opened.use(await openDeliveryStack({ mongoUrl: nodes.url }));
  for (const tenantId of tenants) await stack.createEndpoint(tenantId, receiver.url);
});
afterAll(() => opened.disposeAsync());

/** Runs `fault` when half of the snapshots are committed, and checks what came of all of them. */
async function expectAllDeliveredAcross(fault: () => Promise<void>): Promise<void> {
  const run = new PublishingRun(stack.editor);
  const before = receiver.ledger.posts.length;
  for (const tenantId of tenants) await run.create(tenantId, documentsEach);
  const publishing = run.advance(run.published, snapshotsEach);
  await vi.waitUntil(() => run.count >= total / 2, { timeout: 60_000, interval: 5 });
  await fault();
  await publishing;
  expect(run.count).toBe(total);
  await receiver.ledger.expectDelivered(run.published, { each: true });
  await stack.untilSettled();
  // Only posts that were under way at the kill may be repeated, not all of them.
  expect(receiver.ledger.posts.length - before).toBeLessThan(1.25 * total);
}

describe("2,000 snapshots arrive, in order, although kill -9 ends", () => {
  it("one of three delivery processes, which is started again", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => {
      await stack.deliveries[0]!.kill();
      await stack.deliveries[0]!.start();
    }),
  );

  it("all three delivery processes at once", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => {
      await Promise.all(stack.deliveries.map((each) => each.kill()));
      await Promise.all(stack.deliveries.map((each) => each.start()));
    }),
  );

  it("signing", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => {
      await stack.signing.kill();
      await stack.signing.start();
    }),
  );

  it("documents", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => {
      await stack.documents.kill();
      await stack.documents.start();
    }),
  );

  it("the broker, whose store is wiped before it is started again", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => {
      await stack.broker.kill();
      await stack.broker.start(true);
    }),
  );

  // The last one: this node is not started again.
  it("the primary of three mongods", { timeout: timeoutMs }, () =>
    expectAllDeliveredAcross(async () => void process.kill(nodes.first.pid!, "SIGKILL")),
  );
});
