import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deliveryIdOf } from "../src/domain/delivery.ts";
import { webhookIdOf } from "../src/domain/payload.ts";
import { eventually } from "./support/eventually.ts";
import { snapshotOf } from "./support/feed.ts";
import { openReceiver, type Receiver } from "./support/receiver.ts";
import { openDelivery, openWorld, publish, type World } from "./support/world.ts";

const hourMs = 3_600_000;
let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

// With waits this long, whatever is tried twice within a test was made due by an arrival.
beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world, { retries: { delaysMs: [hourMs, 10 * hourMs], ageMsMax: 72 * hourMs } });
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const sequences = ({ received }: Receiver) =>
  received.map(({ headers }) => Number(String(headers["webhook-id"]).split("_").at(-1)));

/** Resolves when the first delivery of a tenant waits after `attemptCount` attempts. */
function waits(tenantId: string, attemptCount: number) {
  const row = { tenantId, sequence: 1, attemptCount, lease: { $exists: false } };
  return eventually(() => world.deliveries().countDocuments(row)).toBe(1);
}

async function states(tenantId: string): Promise<string[]> {
  const rows = await world.deliveries().find({ tenantId }).sort({ sequence: 1 }).toArray();
  return rows.map(({ sequence, state }) => `${sequence} ${state}`);
}

/** A receiver that refuses these sequences and accepts all others. */
function refusing(status: number, ...refused: number[]) {
  return openReceiver(({ headers }, response) => {
    const sequence = Number(String(headers["webhook-id"]).split("_").at(-1));
    response.writeHead(refused.includes(sequence) ? status : 204).end();
  });
}

describe("a newer snapshot", () => {
  it("has a refused older one sent again first, and supersedes it when only the newer one is accepted", async () => {
    await using receiver = await refusing(500, 1);
    await delivery.endpoint("poison", receiver.url);
    const { documentId } = await publish(world, "poison");
    await waits("poison", 1);
    await publish(world, "poison", documentId, 2);
    await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
    await eventually(() => states("poison")).toEqual(["1 superseded", "2 delivered"]);
    await publish(world, "poison", documentId, 3);
    await receiver.arrivals(4);
    expect(sequences(receiver).at(-1)).toBe(3);
  });

  /** Publishes an older and a newer snapshot to an endpoint that fails. */
  async function publishInOutage(tenantId: string, { url }: Receiver): Promise<string> {
    await delivery.endpoint(tenantId, url);
    const { documentId } = await publish(world, tenantId);
    await waits(tenantId, 1);
    await publish(world, tenantId, documentId, 2);
    await waits(tenantId, 2);
    return documentId;
  }

  it("causes an attempt of the older one whose failure does not lengthen the backoff", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await publishInOutage("failing", receiver);
    const row = await world.deliveries().findOne({ tenantId: "failing", sequence: 1 });
    expect(row?.retryCount).toBe(1);
    expect(row!.nextAttemptAt!.getTime() - Date.now()).toBeLessThan(2 * hourMs);
  });

  it("waits for the older one while the endpoint fails", async () => {
    let isUp = false;
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(isUp ? 204 : 503).end());
    const documentId = await publishInOutage("outage", receiver);
    isUp = true;
    await publish(world, "outage", documentId, 3);
    await receiver.arrivals(5);
    expect(sequences(receiver)).toEqual([1, 1, 1, 2, 3]);
  });

  it("does not end the backoff of another document", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await using witness = await openReceiver();
    await delivery.endpoint("others", receiver.url);
    await publish(world, "others");
    await waits("others", 1);
    await delivery.endpoint("others", witness.url);
    await publish(world, "others", randomUUID());
    await witness.arrivals(1);
    await eventually(() => world.deliveries().countDocuments({ tenantId: "others", attemptCount: 1 })).toBe(3);
    expect(receiver.received).toHaveLength(2);
  });

  it("has the older one sent again after the receiver's Retry-After, not after its longer backoff", async () => {
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length > 1) response.writeHead(204).end();
      else response.writeHead(503, { "retry-after": "1" }).end();
    });
    await delivery.endpoint("asked", receiver.url);
    const { documentId } = await publish(world, "asked");
    await waits("asked", 1);
    await publish(world, "asked", documentId, 2);
    const [first, second] = await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_000);
  });

  it("whose reference comes again does not make the older one due again", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await delivery.endpoint("again", receiver.url);
    const { documentId } = await publish(world, "again");
    await waits("again", 1);
    const newer = await publish(world, "again", documentId, 2);
    await waits("again", 2);
    await eventually(() => world.feed.isPending(newer)).toBe(false);
    world.feed.publish(newer);
    await world.broker.announce(newer);
    await eventually(() => world.feed.isPending(newer)).toBe(false);
    // A repeat that expedited the row would have led to a third attempt by now.
    const row = await world.deliveries().findOne({ tenantId: "again", sequence: 1 });
    expect([row!.attemptCount, row!.lease]).toEqual([2, undefined]);
    expect(row!.nextAttemptAt!.getTime()).toBeGreaterThan(Date.now());
  });

  it("that is ingested again, because the process that stored it died, makes the older one due", async () => {
    await using receiver = await refusing(500, 1);
    const { endpointId } = await delivery.endpoint("untold", receiver.url);
    const { documentId } = await publish(world, "untold");
    await waits("untold", 1);
    const newer = snapshotOf("untold", documentId, 2);
    const webhookId = webhookIdOf(newer);
    const known = (await world.deliveries().findOne({ tenantId: "untold" }))!;
    const { nextAttemptAt: _due, isRefused: _refused, ...row } = known;
    const ids = { _id: deliveryIdOf({ endpointId }, webhookId), webhookId, sequence: 2, createdAt: new Date() };
    await world.deliveries().insertOne({ ...row, ...ids, generation: 0, attemptCount: 0, retryCount: 0, attempts: [] });
    world.feed.publish(newer);
    await world.broker.announce(newer);
    await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
    await eventually(() => states("untold")).toEqual(["1 superseded", "2 delivered"]);
  });

  it("that the endpoint's filter excludes supersedes the older one", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    const { endpointId } = await delivery.endpoint("filtering", receiver.url);
    const { documentId } = await publish(world, "filtering");
    await waits("filtering", 1);
    await world.endpoints().updateOne({ _id: endpointId }, { $set: { events: ["snapshot.withheld"] } });
    const newer = await publish(world, "filtering", documentId, 2);
    await eventually(() => world.feed.isPending(newer)).toBe(false);
    expect(await states("filtering")).toEqual(["1 superseded"]);
    expect(sequences(receiver)).toEqual([1]);
  });
});

describe("a reference to a snapshot that is settled", () => {
  it("sends nothing, though an endpoint was created since", async () => {
    const settled = await publish(world, "forged");
    await eventually(() => world.feed.isPending(settled)).toBe(false);
    await using receiver = await openReceiver();
    await delivery.endpoint("forged", receiver.url);
    await world.broker.announce(settled);
    const witness = await publish(world, "forged");
    await receiver.arrivals(1);
    await eventually(() => world.feed.isPending(witness)).toBe(false);
    expect(await world.deliveries().countDocuments({ tenantId: "forged" })).toBe(1);
  });
});
