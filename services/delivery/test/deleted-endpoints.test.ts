import { profiled } from "@vidimus/devstack/testing/profile";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deliveryIdOf } from "../src/domain/delivery.ts";
import { webhookIdOf } from "../src/domain/payload.ts";
import type { DeliveryRow } from "../src/store/rows.ts";
import { eventually } from "./support/eventually.ts";
import { snapshotOf } from "./support/feed.ts";
import { asAdmin, openDelivery, openWorld, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** A disabled endpoint with `count` undelivered webhooks. */
async function openHeld(tenantId: string, count: number) {
  const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook");
  await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
  const rows = Array.from({ length: count }, (): DeliveryRow => {
    const snapshot = snapshotOf(tenantId, randomUUID(), 1);
    const webhookId = webhookIdOf(snapshot);
    const ids = { _id: deliveryIdOf({ endpointId }, webhookId), tenantId, endpointId, webhookId };
    const counts = { generation: 0, attemptCount: 0, retryCount: 0, attempts: [], bodyBytes: 2_000 };
    const times = { sequence: 1, signingNumber: 1, createdAt: new Date(), nextAttemptAt: new Date() };
    return { ...ids, documentId: snapshot.documentId, ...times, ...counts, state: "pending" };
  });
  await world.deliveries().insertMany(rows);
  return { tenantId, endpointId };
}

/** How many rows each statement has deleted while `work` ran. */
async function deletedBy(work: () => Promise<void>): Promise<number[]> {
  const deletes = { ns: /\.deliveries$/, ndeleted: { $gt: 0 } };
  const { entries } = await profiled(world.deliveries().db, deletes, work);
  return entries.map((each) => Number(each["ndeleted"]));
}

const left = (tenantId: string) => world.deliveries().countDocuments({ tenantId });

it("undelivered rows of a deleted endpoint are deleted in statements of a thousand rows at most", async () => {
  const name = await openHeld("leaving", 3_500);
  const counts = await deletedBy(async () => {
    await delivery.endpoints.deleteEndpoint(name, asAdmin);
    await eventually(() => left(name.tenantId)).toBe(0);
  });
  expect(counts).toEqual([1_000, 1_000, 1_000, 500]);
});

it("undelivered rows that a dead process left after deleting an endpoint are deleted", async () => {
  const name = await openHeld("left", 2_500);
  const counts = await deletedBy(async () => {
    await world.endpoints().deleteOne({ _id: name.endpointId });
    await eventually(() => left(name.tenantId)).toBe(0);
  });
  expect(counts).toEqual([1_000, 1_000, 500]);
});
