import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { promisedPace } from "../src/config.ts";
import { snapshotOf } from "./support/feed.ts";
import { eventually } from "./support/eventually.ts";
import { openReceiver } from "./support/receiver.ts";
import { openDelivery, openWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Publishes many snapshots, and announces none. */
function publishMany(tenantId: string, count: number) {
  const snapshots = Array.from({ length: count }, () => snapshotOf(tenantId, randomUUID()));
  for (const each of snapshots) world.feed.publish(each);
  return { isPending: () => snapshots.some((each) => world.feed.isPending(each)) };
}

it("in a burst of 1,000 each snapshot is read, signed and posted once", async () => {
  await using receiver = await openReceiver();
  await using first = await openDelivery(world);
  await first.endpoint("burst", receiver.url);
  await first[Symbol.asyncDispose]();
  const { isPending } = publishMany("burst", 1_000);
  // At this pace a single walk finds all snapshots, and no attempt exceeds its deadline.
  await using _delivery = await openDelivery(world, { ...promisedPace, reconcileMs: 60_000 });
  await receiver.arrivals(1_000);
  await eventually(isPending).toBe(false);
  await eventually(() => world.deliveries().countDocuments({ tenantId: "burst", state: "delivered" })).toBe(1_000);
  expect(receiver.received).toHaveLength(1_000);
  expect(world.feed.counts.read).toBe(1_000);
  expect(world.signing.state.signed).toBe(1_000);
});

it("an endpoint that does not answer delays no snapshot's settlement and no other endpoint", async () => {
  await using delivery = await openDelivery(world, { attemptMs: 60_000 });
  // This receiver is closed before delivery, which would wait for the attempts in flight.
  await using silent = await openReceiver(() => {});
  await using quick = await openReceiver();
  await delivery.endpoint("mixed", silent.url);
  await delivery.endpoint("mixed", quick.url);
  const { isPending } = publishMany("mixed", 600);
  await quick.arrivals(600);
  await eventually(isPending).toBe(false);
  expect(silent.received).toHaveLength(32);
});
