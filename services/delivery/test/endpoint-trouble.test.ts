import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeliveryRow } from "../src/store/rows.ts";
import { eventually } from "./support/eventually.ts";
import { openReceiver, type Receiver } from "./support/receiver.ts";
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

const count = (tenantId: string, state: DeliveryRow["state"]) => world.deliveries().countDocuments({ tenantId, state });
const documents = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body.toString()).data.documentId);

describe("an endpoint that is disabled", () => {
  it("gets what was held for it, in order, when it is enabled", async () => {
    await using receiver = await openReceiver();
    const { endpointId } = await delivery.endpoint("held", receiver.url);
    await delivery.endpoints.disableEndpoint({ tenantId: "held", endpointId }, asAdmin);
    const { documentId } = await publish(world, "held");
    await publish(world, "held", documentId, 2);
    await eventually(() => count("held", "pending")).toBe(2);
    expect(receiver.received).toEqual([]);
    await delivery.endpoints.enableEndpoint({ tenantId: "held", endpointId }, asAdmin);
    await publish(world, "held", documentId, 3);
    await receiver.arrivals(3);
    const sequences = receiver.received.map(({ headers }) => String(headers["webhook-id"]).split("_").at(-1));
    expect(sequences).toEqual(["1", "2", "3"]);
    await eventually(() => count("held", "delivered")).toBe(3);
  });
});

describe("an endpoint that fails five times", () => {
  it("has an open breaker, even when the five attempts were made one after the other", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    const { endpointId } = await delivery.endpoint("lonely", receiver.url);
    await publish(world, "lonely");
    const openSince = async () => (await world.states().findOne({ _id: endpointId }))?.gate.open?.since;
    await eventually(openSince).toBeDefined();
    const since = (await openSince())!;
    expect(receiver.received.filter(({ at }) => at <= since)).toHaveLength(5);
  });

  it("after the first 2xx gets everything that waits, each webhook once", async () => {
    let isUp = false;
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(isUp ? 204 : 503).end());
    const { endpointId } = await delivery.endpoint("outage", receiver.url);
    for (let n = 0; n < 5; n++) await publish(world, "outage", randomUUID());
    await eventually(() => world.states().countDocuments({ _id: endpointId, "gate.open": { $exists: true } })).toBe(1);
    await Promise.all(Array.from({ length: 45 }, () => publish(world, "outage", randomUUID())));
    await eventually(() => count("outage", "pending")).toBe(50);
    const before = receiver.received.length;
    isUp = true;
    await eventually(() => count("outage", "delivered")).toBe(50);
    expect(new Set(documents(receiver).slice(before)).size).toBe(50);
    expect(receiver.received.length - before).toBe(50);
    await eventually(() => world.states().countDocuments({ _id: endpointId })).toBe(0);
  });
});

describe("an endpoint whose stored secret cannot be opened", () => {
  const remedy = /cannot be opened.*rotate its secret.*delete it/;

  it("gets nothing until the secret can be opened, unlike its tenant's other endpoint", async () => {
    const tenantId = "unopened";
    await using receiver = await openReceiver();
    await using other = await openReceiver();
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    const { endpointId: otherId } = await delivery.endpoint(tenantId, other.url);
    const row = await world.endpoints().findOne({ _id: endpointId });
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { url: `${receiver.url}elsewhere` } });
    await publish(world, tenantId);
    await other.arrivals(1);
    await eventually(() => world.deliveries().countDocuments({ endpointId, state: "pending" })).toBe(1);
    const { endpoint } = await delivery.endpoints.getEndpoint({ tenantId, endpointId }, asAdmin);
    expect(endpoint?.health).toMatchObject({ gate: "unopened", heldDeliveries: 1 });
    const { endpoints } = await delivery.endpoints.listEndpoints({ tenantId }, asAdmin);
    expect(endpoints.map(({ health }) => health?.gate)).toEqual(["unopened", "closed"]);
    expect(receiver.received).toEqual([]);
    // A second process must not send to the endpoint either.
    await using replica = await openDelivery(world);
    await replica.endpoints.testEndpoint({ tenantId, endpointId: otherId }, asAdmin);
    await other.arrivals(2);
    expect(receiver.received).toEqual([]);
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { url: row!.url } });
    await receiver.arrivals(1);
  });

  it("is neither tested, enabled nor disabled: each refusal names the remedy", async () => {
    const tenantId = "refusing";
    const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook");
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { url: "http://127.0.0.1:9/elsewhere" } });
    for (const act of ["testEndpoint", "enableEndpoint", "disableEndpoint"] as const) {
      await expect(delivery.endpoints[act]({ tenantId, endpointId }, asAdmin)).rejects.toThrow(remedy);
    }
  });

  it("gets what is pending for it once it has a new secret", async () => {
    const tenantId = "remedied";
    await using receiver = await openReceiver();
    const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { secrets: [] } });
    await publish(world, tenantId);
    await eventually(() => world.deliveries().countDocuments({ endpointId, state: "pending" })).toBe(1);
    await delivery.endpoints.rotateEndpointSecret({ tenantId, endpointId }, asAdmin);
    await receiver.arrivals(1);
  });
});
