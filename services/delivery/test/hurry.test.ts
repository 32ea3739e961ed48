import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
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

/** Publishes the first snapshot of a document and waits until its refusal is recorded. */
async function publishRefused(tenantId: string): Promise<string> {
  const { documentId } = await publish(world, tenantId);
  await recorded(tenantId, 1);
  return documentId;
}

/** Resolves when the oldest delivery of a tenant waits for its next attempt after so many. */
function recorded(tenantId: string, attemptCount: number) {
  const row = { tenantId, sequence: 1, attemptCount, lease: { $exists: false } };
  return eventually(() => world.deliveries().countDocuments(row)).toBe(1);
}

describe("a newer snapshot", () => {
  it("does not wait out the backoff of the older one of its document: it makes that one due at once", async () => {
    await using receiver = await openReceiver((_webhook, response) => {
      response.writeHead(receiver.received.length === 1 ? 503 : 204).end();
    });
    await delivery.endpoint("eager", receiver.url);
    const documentId = await publishRefused("eager");
    await publish(world, "eager", documentId, 2);
    await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
  });

  it("leaves the backoff of other documents and other endpoints alone", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await using witness = await openReceiver();
    await delivery.endpoint("others", receiver.url);
    await publishRefused("others");
    await delivery.endpoint("others", witness.url);
    await publish(world, "others", randomUUID());
    await witness.arrivals(1);
    await eventually(() => world.deliveries().countDocuments({ tenantId: "others", attemptCount: 1 })).toBe(3);
    expect(receiver.received).toHaveLength(2);
  });

  it("waits for as long as the receiver's Retry-After says, and no longer", async () => {
    await using receiver = await openReceiver((_webhook, response) => {
      if (receiver.received.length > 1) response.writeHead(204).end();
      else response.writeHead(503, { "retry-after": "1" }).end();
    });
    await delivery.endpoint("asked", receiver.url);
    const documentId = await publishRefused("asked");
    await publish(world, "asked", documentId, 2);
    const [first, second] = await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_000);
  });

  it("costs the older one no step of its backoff", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await delivery.endpoint("patient", receiver.url);
    const documentId = await publishRefused("patient");
    for (const sequence of [2, 3]) {
      await publish(world, "patient", documentId, sequence);
      await recorded("patient", sequence);
    }
    const row = await world.deliveries().findOne({ tenantId: "patient", sequence: 1 });
    const waitMs = row!.nextAttemptAt!.getTime() - row!.attempts.at(-1)!.at.getTime();
    expect(waitMs).toBeLessThan(2 * hourMs);
    expect(sequences(receiver)).toEqual([1, 1, 1]);
  });

  it("hurries nothing when its reference comes again", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
    await delivery.endpoint("again", receiver.url);
    const documentId = await publishRefused("again");
    const newer = await publish(world, "again", documentId, 2);
    await recorded("again", 2);
    await eventually(() => world.feed.isPending(newer)).toBe(false);
    world.feed.publish(newer);
    await world.broker.announce(newer);
    await eventually(() => world.feed.isPending(newer)).toBe(false);
    // What a repeat hurries is due by now, so that whatever comes next would find it attempted or under way.
    const [row] = await world.deliveries().find({ tenantId: "again", sequence: 1 }).toArray();
    expect([row!.attemptCount, row!.lease, row!.hurriedCount]).toEqual([2, undefined, 1]);
    expect(row!.nextAttemptAt!.getTime()).toBeGreaterThan(Date.now());
  });
});
