import { failCommands } from "@vidimus/devstack/testing/fail-commands";
import { randomUUID } from "node:crypto";
import { expect, inject, it } from "vitest";
import { newGate } from "../src/domain/endpoint-gate.ts";
import { eventually } from "./support/eventually.ts";
import { openReceiver } from "./support/receiver.ts";
import { snapshotOf } from "./support/feed.ts";
import { openDelivery, openWorld, publish, type World } from "./support/world.ts";

/** Lets reads of a collection take a second each. */
function answerSlowly(world: World, collection: string): Promise<AsyncDisposable> {
  const namespace = `${world.configOf().database}.${collection}`;
  const slow = { failCommands: ["find"], namespace, blockConnection: true, blockTimeMS: 1_000 };
  return failCommands(inject("mongoUrl"), slow, "alwaysOn");
}

it("a process that starts sends nothing to an endpoint that asked for a pause, nor past an open breaker", async () => {
  await using world = await openWorld();
  await using shut = await openReceiver();
  await using witness = await openReceiver();
  const tenantId = "restart";
  const first = await openDelivery(world);
  const ids = [];
  for (const { url } of [shut, shut, witness]) ids.push((await first.endpoint(tenantId, url)).endpointId);
  await first[Symbol.asyncDispose]();
  const now = Date.now();
  const open = { since: now - 300_000, nextProbeAt: now + 3_600_000, spacingMs: 300_000 };
  const gates = [
    { ...newGate, pausedUntil: now + 3_600_000 },
    { ...newGate, failures: 5, open },
  ];
  for (const [at, gate] of gates.entries()) {
    const _id = ids[at]!;
    await world.states().insertOne({ _id, tenantId, gate, generation: randomUUID(), updatedAt: new Date() });
  }
  // Some snapshots are pending in documents when the process starts, the others come just after.
  const rounds = 20;
  for (let n = 0; n < rounds; n += 1) world.feed.publish(snapshotOf(tenantId, randomUUID()));
  await using _slow = await answerSlowly(world, "endpoint_states");
  await using _second = await openDelivery(world);
  for (let n = 0; n < rounds; n += 1) await publish(world, tenantId);
  await witness.arrivals(2 * rounds);
  await eventually(() => world.deliveries().countDocuments({ tenantId, state: "pending" })).toBe(4 * rounds);
  expect(shut.received).toEqual([]);
});

it("a probe takes the only lane of an endpoint although the lease of a dead process is still in its row", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  const tenantId = "dead_lease";
  const first = await openDelivery(world);
  const { endpointId } = await first.endpoint(tenantId, receiver.url);
  await first[Symbol.asyncDispose]();
  const open = { since: Date.now() - 300_000, nextProbeAt: Date.now() + 3_600_000, spacingMs: 300_000 };
  const gate = { ...newGate, failures: 5, open };
  await world.states().insertOne({ _id: endpointId, tenantId, gate, generation: randomUUID(), updatedAt: new Date() });
  const second = await openDelivery(world);
  await publish(world, tenantId);
  await eventually(() => world.deliveries().countDocuments({ tenantId, nextAttemptAt: { $exists: true } })).toBe(1);
  await second[Symbol.asyncDispose]();
  const until = new Date(Date.now() - 1_000);
  const lease = { holder: "dead", until, token: randomUUID() };
  await world.deliveries().updateOne({ tenantId }, { $set: { lease, nextAttemptAt: until } });
  await world.states().updateOne({ _id: endpointId }, { $set: { "gate.open.nextProbeAt": Date.now() } });
  await using _third = await openDelivery(world);
  await receiver.arrivals(1);
  await eventually(() => world.deliveries().countDocuments({ tenantId, state: "delivered" })).toBe(1);
});
