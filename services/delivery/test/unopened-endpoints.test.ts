import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

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

const remedy = /cannot be opened.*rotate its secret.*delete it/;

it("an endpoint that cannot be opened gets nothing until it can, and keeps nothing from its neighbours", async () => {
  const tenantId = "unopened";
  await using receiver = await openReceiver();
  await using other = await openReceiver();
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  await delivery.endpoint(tenantId, other.url);
  const row = await world.endpoints().findOne({ _id: endpointId });
  await world.endpoints().updateOne({ _id: endpointId }, { $set: { url: `${receiver.url}elsewhere` } });
  await publish(world, tenantId);
  await other.arrivals(1);
  await eventually(() => world.deliveries().countDocuments({ endpointId, state: "pending" })).toBe(1);
  const { endpoint } = await delivery.endpoints.getEndpoint({ tenantId, endpointId }, asAdmin);
  expect(endpoint?.health).toMatchObject({ gate: "unopened", heldDeliveries: 1 });
  const { endpoints } = await delivery.endpoints.listEndpoints({ tenantId }, asAdmin);
  expect(endpoints.map(({ health }) => health?.gate)).toEqual(["unopened", "closed"]);
  for (const act of ["testEndpoint", "enableEndpoint", "disableEndpoint"] as const) {
    await expect(delivery.endpoints[act]({ tenantId, endpointId }, asAdmin)).rejects.toThrow(remedy);
  }
  expect(receiver.received).toEqual([]);
  // Another process must not stop at it either.
  await using replica = await openDelivery(world);
  await world.endpoints().updateOne({ _id: endpointId }, { $set: { url: row!.url } });
  await receiver.arrivals(1);
  expect(replica).toBeDefined();
});

it("an endpoint that cannot be opened works again with a new secret", async () => {
  const tenantId = "remedied";
  await using receiver = await openReceiver();
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  await world.endpoints().updateOne({ _id: endpointId }, { $set: { secrets: [] } });
  await publish(world, tenantId);
  await eventually(() => world.deliveries().countDocuments({ endpointId, state: "pending" })).toBe(1);
  await delivery.endpoints.rotateEndpointSecret({ tenantId, endpointId }, asAdmin);
  await receiver.arrivals(1);
});
