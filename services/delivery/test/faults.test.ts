import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { snapshotOf } from "./support/feed.ts";
import { eventually } from "./support/eventually.ts";
import { openReceiver, type Receiver } from "./support/receiver.ts";
import { openDelivery, openDeliveryProcess, openWorld, publish, type World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

/** Registers an endpoint without leaving a delivery service behind. */
async function register(tenantId: string, { url }: Receiver): Promise<void> {
  await using delivery = await openDelivery(world);
  await delivery.endpoint(tenantId, url);
}

const sequences = (receiver: Receiver) =>
  receiver.received.map(({ body }): number => JSON.parse(body.toString()).data.sequence);

describe("without a broker", () => {
  it("a snapshot is delivered", async () => {
    await world.broker.stop();
    await using receiver = await openReceiver();
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    world.feed.publish(snapshotOf("acme", randomUUID()));
    await receiver.arrivals(1);
  });
});

describe("a broker that is away and comes back without its data", () => {
  it("makes delivery lose neither the snapshot that is published meanwhile nor the next one", async () => {
    await using receiver = await openReceiver();
    // Walks over pending snapshots come once a minute, and when the broker is away or back. So the
    // last snapshot comes by its message, unless the walk after the return finds it.
    await using delivery = await openDelivery(world, { reconcileMs: 60_000 });
    await delivery.endpoint("acme", receiver.url);
    await publish(world, "acme");
    await receiver.arrivals(1);
    await world.broker.stop();
    world.feed.publish(snapshotOf("acme", randomUUID()));
    await world.broker.wipeAndStart();
    await receiver.arrivals(2);
    await publish(world, "acme");
    await receiver.arrivals(3);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  });
});

describe("while signing is off", () => {
  it("a snapshot stays pending in documents, and is sent when signing is on again", async () => {
    world.signing.state.off = true;
    await using receiver = await openReceiver();
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    const snapshot = await publish(world, "acme");
    await eventually(() => world.signing.state.refused).toBeGreaterThan(2);
    expect(receiver.received).toEqual([]);
    expect(world.feed.isPending(snapshot)).toBe(true);
    world.signing.state.off = false;
    const [webhook] = await receiver.arrivals(1);
    expect(JSON.parse(String(webhook?.body)).data.signature.keyId).toMatch(/^ed25519-/);
    await eventually(() => world.feed.isPending(snapshot)).toBe(false);
  });
});

describe("a snapshot whose digest contradicts its bytes or its earlier signature", () => {
  it("is settled as unsendable, so that it delays no other snapshot", async () => {
    await using receiver = await openReceiver();
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    const contested = snapshotOf("acme", randomUUID());
    const name = `acme\n${contested.documentId}\n1`;
    const another = { digest: "00".repeat(32), statement: "another", signingNumber: 1 };
    world.signing.ledger.set(name, { ...another, key: world.signing.activeKey() });
    const torn = { ...snapshotOf("acme", randomUUID()), sha256: Buffer.alloc(32, 7) };
    for (const snapshot of [contested, torn]) {
      world.feed.publish(snapshot);
      await world.broker.announce(snapshot);
    }
    await publish(world, "acme", contested.documentId, 2);
    await publish(world, "acme");
    await receiver.arrivals(2);
    expect(new Set(sequences(receiver))).toEqual(new Set([1, 2]));
    const reasons = () => [contested, torn].map((snapshot) => world.feed.unsendable.get(snapshot.documentId));
    await eventually(reasons).toEqual(["signed_differently", "bytes_differ"]);
    expect([contested, torn].map((snapshot) => world.feed.isPending(snapshot))).toEqual([false, false]);
    const left = { documentId: { $in: [contested.documentId, torn.documentId] }, sequence: 1 };
    expect(await world.deliveries().countDocuments(left)).toBe(0);
  });
});

describe("a reference to a document's newest snapshot", () => {
  it("has the older snapshots that are pending sent first, in order", async () => {
    await using receiver = await openReceiver();
    await using delivery = await openDelivery(world, { reconcileMs: 60_000 });
    await delivery.endpoint("acme", receiver.url);
    const first = await publish(world, "acme");
    // A message that is sent before the subscription stands is lost.
    await eventually(async () => {
      await world.broker.announce(first);
      return receiver.received.length;
    }).toBe(1);
    const documentId = randomUUID();
    for (const sequence of [1, 2, 3]) world.feed.publish(snapshotOf("acme", documentId, sequence));
    // Announced again and again: a call that fails leaves the snapshot to the walk, which comes too
    // late for this test.
    await eventually(async () => {
      await world.broker.announce(snapshotOf("acme", documentId, 3));
      return receiver.received.length;
    }).toBe(4);
    expect(sequences(receiver)).toEqual([1, 1, 2, 3]);
  });
});

describe("a delivery process killed", () => {
  it("before the answer: the webhook arrives again after the restart, with the same id and body", async () => {
    await using receiver = await openReceiver(() => {});
    await register("acme", receiver);
    await using doomed = await openDeliveryProcess(world);
    await publish(world, "acme");
    await receiver.arrivals(1);
    await doomed.kill();
    receiver.behaviour.answer = (_webhook, response) => response.writeHead(204).end();
    await using _delivery = await openDelivery(world);
    const [first, second] = await receiver.arrivals(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(second?.body.equals(first?.body ?? Buffer.of())).toBe(true);
    await eventually(() => world.deliveries().countDocuments({ state: "delivered" })).toBe(1);
  });

  it.each(["getSnapshots", "settleSnapshots"])(
    "in %s: the snapshot arrives once, signed and settled",
    async (method) => {
      await using receiver = await openReceiver();
      await register("acme", receiver);
      const { reached, release } = world.feed.hold(method);
      await using doomed = await openDeliveryProcess(world);
      const snapshot = await publish(world, "acme");
      await reached;
      // While settleSnapshots hangs, the first attempt is made. Its record is waited for, because
      // an attempt without a record is repeated.
      if (method !== "getSnapshots") {
        await eventually(() => world.deliveries().countDocuments({ state: "delivered" })).toBe(1);
      }
      await doomed.kill();
      expect(world.feed.isPending(snapshot)).toBe(true);
      release();
      await using _delivery = await openDelivery(world);
      await eventually(() => world.feed.isPending(snapshot)).toBe(false);
      expect(world.feed.signatureOf(snapshot)).toBeDefined();
      await publish(world, "acme", snapshot.documentId, 2);
      await receiver.arrivals(2);
      expect(sequences(receiver)).toEqual([1, 2]);
    },
  );

  it("between storing deliveries and getting the signature: the snapshot arrives once", async () => {
    await using receiver = await openReceiver();
    await register("acme", receiver);
    const release = world.signing.hold();
    await using doomed = await openDeliveryProcess(world);
    const snapshot = await publish(world, "acme");
    await eventually(() => world.deliveries().countDocuments()).toBe(1);
    await doomed.kill();
    release();
    expect(receiver.received).toEqual([]);
    await using _delivery = await openDelivery(world);
    await eventually(() => world.deliveries().countDocuments({ state: "delivered" })).toBe(1);
    await eventually(() => world.feed.isPending(snapshot)).toBe(false);
    expect(sequences(receiver)).toEqual([1]);
  });

  it("while it holds a lane's lease: a row that another process stores is sent nevertheless", async () => {
    await using receiver = await openReceiver(() => {});
    await register("acme", receiver);
    await using doomed = await openDeliveryProcess(world);
    const { documentId } = await publish(world, "acme");
    await receiver.arrivals(1);
    // Killed at once, because it would time the attempt out after a second and start another.
    await doomed.kill();
    receiver.behaviour.answer = (_webhook, response) => response.writeHead(204).end();
    await using _delivery = await openDelivery(world);
    await publish(world, "acme", documentId, 2);
    await receiver.arrivals(3);
    expect(sequences(receiver)).toEqual([1, 1, 2]);
  });
});

describe("a delivery whose endpoint is gone", () => {
  it("is deleted", async () => {
    await using receiver = await openReceiver((_webhook, response) => response.writeHead(500).end());
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    await publish(world, "acme");
    await receiver.arrivals(1);
    // As if the process had died between deleting the endpoint and deleting its deliveries.
    await world.endpoints().deleteMany({ tenantId: "acme" });
    await eventually(() => world.deliveries().countDocuments({ tenantId: "acme" })).toBe(0);
  });
});
