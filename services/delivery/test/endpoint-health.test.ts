import { timestampDate } from "@bufbuild/protobuf/wkt";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  world = await openWorld();
  // A delivery that fails is attempted again only when the test asks for it, or publishes a newer
  // snapshot of the document.
  delivery = await openDelivery(world, { retries: { delaysMs: [600_000], ageMsMax: 3_600_000_000 } });
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

it("the health of an endpoint shows its backlog, when it last accepted a webhook, and a failed attempt", async () => {
  const tenantId = "health";
  let status = 204;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end("no space"));
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  const read = async () => (await delivery.endpoints.getEndpoint({ tenantId, endpointId })).endpoint!.health!;
  const fresh = await read();
  expect(fresh).toMatchObject({ gate: "closed", pendingDocuments: 0n });
  expect([fresh.oldestPendingAt, fresh.lastAcceptedAt, fresh.lastFailure]).toEqual([undefined, undefined, undefined]);
  await publish(world, tenantId);
  await eventually(async () => expect((await read()).lastAcceptedAt).toBeDefined());
  status = 500;
  const documents = [randomUUID(), randomUUID()] as const;
  for (const documentId of documents) await publish(world, tenantId, documentId);
  await publish(world, tenantId, documents[0], 2);
  const failing = await eventually(async () => {
    expect(await world.deliveries().countDocuments({ tenantId, state: "pending", attemptCount: { $gt: 0 } })).toBe(3);
    const health = await read();
    expect(health).toMatchObject({ gate: "closed", pendingDocuments: 2n });
    return health;
  });
  expect(failing.lastFailure).toMatchObject({ status: 500, answer: "no space" });
  const accepted = await world.deliveries().findOne({ tenantId, state: "delivered" });
  expect(timestampDate(failing.lastAcceptedAt!)).toEqual(accepted!.endedAt);
  const rows = await world.deliveries().find({ tenantId, state: "pending" }).sort({ createdAt: 1 }).toArray();
  expect(timestampDate(failing.oldestPendingAt!)).toEqual(rows[0]!.createdAt);
  const newest = rows.flatMap(({ attempts }) => attempts.map(({ at }) => at.getTime())).sort((a, b) => b - a);
  // All three were attempted, but the health reads only the oldest pending webhook of each
  // document, so its last failure need not be the newest attempt of all.
  expect(newest).toContain(timestampDate(failing.lastFailure!.at!).getTime());

  status = 204;
  using log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
  for (const { _id: deliveryId } of rows.filter(({ nextAttemptAt }) => nextAttemptAt)) {
    const answer = await log.redeliver({ tenantId, deliveryId }, asAdmin);
    expect(answer.attempt).toBeUndefined();
  }
  await eventually(async () => expect(await read()).toMatchObject({ gate: "closed", pendingDocuments: 0n }));
});

it("only an accepted redelivery changes the time at which an endpoint last accepted a webhook", async () => {
  const tenantId = "refusing";
  let status = 204;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end());
  const name = { tenantId, endpointId: (await delivery.endpoint(tenantId, receiver.url)).endpointId };
  const accepted = async () => (await delivery.endpoints.getEndpoint(name)).endpoint!.health!.lastAcceptedAt;
  await publish(world, tenantId);
  const first = await eventually(async () => {
    const at = await accepted();
    expect(at).toBeDefined();
    return timestampDate(at!);
  });
  using log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  status = 500;
  expect((await log.redeliver({ tenantId, deliveryId }, asAdmin)).attempt?.status).toBe(500);
  expect(timestampDate((await accepted())!)).toEqual(first);
  status = 204;
  expect((await log.redeliver({ tenantId, deliveryId }, asAdmin)).delivery?.state).toBe("delivered");
  expect(timestampDate((await accepted())!).getTime()).toBeGreaterThan(first.getTime());
});

it("deliveries in a backoff are sent before its end when the receiver accepts a ping", async () => {
  const tenantId = "mended";
  let status = 500;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end());
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  for (let n = 0; n < 2; n += 1) await publish(world, tenantId);
  const waiting = { tenantId, state: "pending" as const, attemptCount: 1, lease: { $exists: false } };
  await eventually(async () => expect(await world.deliveries().countDocuments(waiting)).toBe(2));
  const name = { tenantId, endpointId };
  expect((await delivery.endpoints.testEndpoint(name, asAdmin)).ping?.accepted).toBe(false);
  status = 204;
  expect((await delivery.endpoints.testEndpoint(name, asAdmin)).ping?.accepted).toBe(true);
  await eventually(async () =>
    expect(await world.deliveries().countDocuments({ tenantId, state: "delivered" })).toBe(2),
  );
});

/** Stores a delivery to a disabled endpoint. @returns the endpoint's name */
async function hold(tenantId: string) {
  const name = { tenantId, endpointId: (await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook")).endpointId };
  await delivery.endpoints.disableEndpoint(name, asAdmin);
  await publish(world, tenantId);
  await eventually(async () => expect(await world.deliveries().countDocuments({ tenantId, state: "pending" })).toBe(1));
  return name;
}

it("a delivery to a disabled endpoint is listed as held, not as pending", async () => {
  const name = await hold("held");
  using log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
  const { deliveries } = await log.listDeliveries({ ...name, states: ["held"] });
  expect(deliveries).toMatchObject([{ state: "held" }]);
  expect(deliveries[0]).not.toHaveProperty("nextAttemptAt");
  expect((await log.listDeliveries({ ...name, states: ["pending"] })).deliveries).toEqual([]);
  const both = { tenantId: name.tenantId, states: ["pending", "held"] };
  expect((await log.listDeliveries(both)).deliveries).toHaveLength(1);
});

it("a redelivery of what is held for a disabled endpoint is refused", async () => {
  const { tenantId } = await hold("refused");
  using log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  const refusal = log.redeliver({ tenantId, deliveryId }, asAdmin);
  await expect(refusal).rejects.toThrow("is sent when its endpoint is enabled");
});

it("the health of a disabled endpoint says how many deliveries are held, and since when", async () => {
  const tenantId = "holding";
  await using receiver = await openReceiver();
  const name = { tenantId, endpointId: (await delivery.endpoint(tenantId, receiver.url)).endpointId };
  await delivery.endpoints.disableEndpoint(name, asAdmin);
  const documents = [randomUUID(), randomUUID()];
  for (const sequence of [1, 2, 3])
    for (const documentId of documents) await publish(world, tenantId, documentId, sequence);
  await eventually(async () => expect(await world.deliveries().countDocuments({ tenantId, state: "pending" })).toBe(6));
  const rows = await world.deliveries().find({ tenantId }).sort({ createdAt: 1 }).toArray();
  const { endpoint } = await delivery.endpoints.getEndpoint(name);
  const held = { pendingDocuments: 0n, heldDeliveries: 6, hasMoreHeld: false };
  expect(endpoint).toMatchObject({ disablement: { reason: "operator" }, health: { gate: "disabled", ...held } });
  expect(timestampDate(endpoint!.health!.oldestHeldAt!)).toEqual(rows[0]!.createdAt);
});
