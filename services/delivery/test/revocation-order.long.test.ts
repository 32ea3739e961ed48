/**
 * Documents that are published again while their older snapshots are sent again after a revocation.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import type { FeedSnapshot } from "./support/feed.ts";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
import { openDelivery, openWorld, publish } from "./support/world.ts";

const documents = 150;
const rounds = 3;
// The deadline is long, because the receivers run in the same process as three delivery services
// and may answer late.
const pace = { resendsPerSecond: 60, resigningGraceMs: 600, attemptMs: 10_000 };

const dataOf = ({ body }: ReceivedWebhook): { documentId: string; sequence: number } =>
  JSON.parse(body.toString()).data;

it(
  "with three processes no snapshot is sent again after a newer one of its document",
  { timeout: 300_000 },
  async () => {
    await using world = await openWorld();
    await using slow = await openReceiver((_webhook, response) => {
      setTimeout(() => response.writeHead(Math.random() < 0.1 ? 503 : 204).end(), 20 * Math.random());
    });
    await using quick = await openReceiver();
    const accepted = new Map<string, number>();
    const inversions: string[] = [];
    quick.behaviour.answer = (webhook, response) => {
      const { documentId, sequence } = dataOf(webhook);
      if (sequence < (accepted.get(documentId) ?? 0)) inversions.push(String(webhook.headers["webhook-id"]));
      accepted.set(documentId, sequence);
      response.writeHead(204).end();
    };
    await using stack = new AsyncDisposableStack();
    const first = stack.use(await openDelivery(world, pace));
    for (let other = 0; other < 2; other += 1) stack.use(await openDelivery(world, pace));
    for (const { url } of [slow, quick]) await first.endpoint("acme", url);
    let newest = await Promise.all(Array.from({ length: documents }, () => publish(world, "acme")));
    const isSettled = () => newest.filter((each) => world.feed.isPending(each)).length;
    await eventually(isSettled).toBe(0);
    for (let round = 0; round < rounds; round += 1) {
      await eventually(() => world.deliveries().countDocuments({ state: "pending" })).toBe(0);
      const { revoked } = world.signing.revoke();
      await expect
        .poll(async () => (await world.resigning().findOne())?.run?.phase, { timeout: 60_000, interval: 5 })
        .toBe("send");
      // These publications are spread over the time in which the older snapshots are sent again.
      const next: FeedSnapshot[] = [];
      for (const { documentId, sequence } of newest) {
        await pause(20 * Math.random());
        next.push(await publish(world, "acme", documentId, sequence + 1));
      }
      newest = next;
      await eventually(isSettled).toBe(0);
      await eventually(async () => (await world.resigning().findOne())?.doneKeyIds).toContain(revoked);
    }
    await expect.poll(() => world.deliveries().countDocuments({ state: "pending" }), { timeout: 60_000 }).toBe(0);
    const again = quick.received.filter(({ headers }) => /_r\d$/.test(String(headers["webhook-id"])));
    expect(inversions).toEqual([]);
    expect(again.length).toBeGreaterThan(0);
    for (const { documentId } of newest) expect(accepted.get(documentId)).toBe(rounds + 1);
  },
);
