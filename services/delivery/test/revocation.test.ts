/** What follows the revocation of a signing key. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { FeedSnapshot } from "./support/feed.ts";
import { untilEqual } from "./support/eventually.ts";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
import { openDelivery, openDeliveryProcess, openWorld, publish, type World } from "./support/world.ts";

const idOf = ({ headers }: ReceivedWebhook) => String(headers["webhook-id"]);
/** What follows the document in a webhook id: `3` or `3_r2`. */
const tailOf = (webhook: ReceivedWebhook) => idOf(webhook).slice("snp_".length + 33);
const documentOf = ({ body }: ReceivedWebhook): string => JSON.parse(body.toString()).data.documentId;
const keyIdsHeld = (world: World) => [...new Set([...world.feed.signatures.values()].map(({ keyId }) => keyId))];
const settled = (world: World, snapshot: FeedSnapshot) => untilEqual(() => world.feed.isPending(snapshot), false);

/** Resolves when the work after a revocation is done for these keys. */
function doneFor(world: World, ...keyIds: string[]) {
  const done = async () => {
    const row = await world.resigning().findOne();
    return row && !row.run ? row.doneKeyIds : [];
  };
  return untilEqual(done, keyIds, 30_000);
}

// The tests run at the same time, because most of their time is waiting.
it.concurrent("after a revocation all signatures that documents holds are replaced", async () => {
  await using world = await openWorld();
  await using delivery = await openDelivery(world);
  const first = await publish(world, "nobody");
  await settled(world, first);
  await settled(world, await publish(world, "nobody", first.documentId, 2));
  const { revoked, active } = world.signing.revoke();
  await doneFor(world, revoked);
  expect(keyIdsHeld(world)).toEqual([active]);
  expect(world.feed.signatures.size).toBe(2);
  expect(delivery.service.grpcPort).toBeGreaterThan(0);
});

it.concurrent("after a revocation each document's newest snapshot is sent again once, with a new signature", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  await using late = await openReceiver();
  // With this deadline no attempt is repeated because the machine is busy.
  await using delivery = await openDelivery(world, { attemptMs: 15_000 });
  await using other = await openDelivery(world, { attemptMs: 15_000 });
  await delivery.endpoint("acme", receiver.url);
  const first = await publish(world, "acme");
  await settled(world, first);
  const second = await publish(world, "acme", first.documentId, 2);
  const alone = await publish(world, "acme");
  for (const each of [second, alone]) await settled(world, each);
  await receiver.arrivals(3);
  await other.endpoint("acme", late.url);

  const { revoked, active } = world.signing.revoke();
  await doneFor(world, revoked);
  await receiver.arrivals(5);
  const again = receiver.received.slice(3);
  expect(new Map(again.map((each) => [documentOf(each), tailOf(each)]))).toEqual(
    new Map([
      [first.documentId, "2_r2"],
      [alone.documentId, "1_r2"],
    ]),
  );
  for (const webhook of again) {
    const before = receiver.received.find((each) => idOf(webhook) === `${idOf(each)}_r2`)!;
    const { data, id, ...rest } = JSON.parse(webhook.body.toString());
    const old = JSON.parse(before.body.toString());
    expect(id).toBe(idOf(webhook));
    expect({ ...rest, id: old.id, data: { ...data, signature: old.data.signature } }).toEqual(old);
    expect([data.signature.keyId, webhook.headers["vidimus-key-id"]]).toEqual([active, active]);
  }
  // A snapshot that is published later is sent as always.
  const third = await publish(world, "acme", first.documentId, 3);
  await settled(world, third);
  await receiver.arrivals(6);
  expect(tailOf(receiver.received.at(-1)!)).toBe("3");
  expect((await late.arrivals(1)).map(tailOf)).toEqual(["3"]);
  await untilEqual(() => world.deliveries().countDocuments({ state: { $ne: "delivered" } }), 0);
  expect(receiver.received).toHaveLength(6);
});

it.concurrent("a delivery that failed with the old signature succeeds with the new one, under an id ending in _r2", async () => {
  await using world = await openWorld();
  let isUp = false;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(isUp ? 204 : 503).end());
  await using delivery = await openDelivery(world);
  await delivery.endpoint("acme", receiver.url);
  await settled(world, await publish(world, "acme"));
  await receiver.arrivals(1);
  const { revoked, active } = world.signing.revoke();
  await doneFor(world, revoked);
  isUp = true;
  await untilEqual(() => world.deliveries().countDocuments({ state: "delivered" }), 1);
  expect(await world.deliveries().countDocuments()).toBe(1);
  const last = receiver.received.at(-1)!;
  expect([tailOf(receiver.received[0]!), tailOf(last)]).toEqual(["1", "1_r2"]);
  expect(last.headers["vidimus-key-id"]).toBe(active);
  expect(new Set(receiver.received.map(idOf)).size).toBe(2);
});

it.concurrent("when processes die replacing signatures or sending, others go on until every snapshot is sent again", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  const documents = 12;
  {
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    const snapshots: FeedSnapshot[] = [];
    for (let at = 0; at < documents; at += 1) snapshots.push(await publish(world, "acme"));
    for (const each of snapshots) await settled(world, each);
    await receiver.arrivals(documents);
    // Wait for the end of the walk that every new database gets.
    await untilEqual(() => world.resigning().countDocuments({ hasFinished: true }), 1);
  }
  const pace = { resendsPerSecond: 4, resigningGraceMs: 200 };
  const { revoked, active } = world.signing.revoke();
  const settling = world.feed.hold("settleSnapshots");
  const first = await openDeliveryProcess(world, pace);
  await settling.reached;
  await first.kill();
  settling.release();
  const second = await openDeliveryProcess(world, pace);
  await receiver.arrivals(documents + 3);
  await second.kill();
  expect(await world.resends().countDocuments()).toBeGreaterThan(0);
  await using delivery = await openDelivery(world, pace);
  expect(delivery.service.grpcPort).toBeGreaterThan(0);
  await doneFor(world, revoked);
  await receiver.arrivals(2 * documents);
  await untilEqual(() => world.deliveries().countDocuments({ state: "delivered" }), 2 * documents);
  expect(keyIdsHeld(world)).toEqual([active]);
  const again = receiver.received.slice(documents);
  expect(new Set(again.map(idOf)).size).toBe(documents);
  expect(again.every((each) => tailOf(each) === "1_r2")).toBe(true);
  for (const each of [first, second]) await each[Symbol.asyncDispose]();
}, 60_000);

it.concurrent("a second revocation replaces all signatures while the first one's snapshots are still sent again", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  const documents = 9;
  await using delivery = await openDelivery(world, { resendsPerSecond: 1, resigningGraceMs: 200 });
  await delivery.endpoint("acme", receiver.url);
  for (let at = 0; at < documents; at += 1) await settled(world, await publish(world, "acme"));
  await receiver.arrivals(documents);
  const first = world.signing.revoke();
  await receiver.arrivals(documents + 1);
  const second = world.signing.revoke();
  await untilEqual(() => keyIdsHeld(world), [second.active]);
  expect(receiver.received.length).toBeLessThan(2 * documents);
  await doneFor(world, first.revoked, second.revoked);
  const last = () => new Map(receiver.received.map((each) => [documentOf(each), tailOf(each)]));
  await untilEqual(() => [...last().values()], Array(documents).fill("1_r3"));
}, 60_000);

it.concurrent("a snapshot is not sent again after a newer one of its document", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  await using delivery = await openDelivery(world);
  const { endpointId } = await delivery.endpoint("acme", receiver.url);
  const first = await publish(world, "acme");
  await settled(world, first);
  const newer = await publish(world, "acme", first.documentId, 2);
  await settled(world, newer);
  await receiver.arrivals(2);
  await untilEqual(() => world.deliveries().countDocuments({ state: "delivered" }), 2);
  // The row of a process that planned to send the first snapshot again, and died before the second
  // one was published.
  const row = (await world.deliveries().findOne({ endpointId, sequence: 1 }))!;
  const ids = { _id: randomUUID(), webhookId: `${row.webhookId}_r2`, signingNumber: 2 };
  const { endedAt: _ended, expiresAt: _expires, ...kept } = row;
  const undone = { state: "pending" as const, attempts: [], attemptCount: 0, nextAttemptAt: new Date() };
  await world.deliveries().insertOne({ ...kept, ...ids, ...undone });
  await untilEqual(() => world.deliveries().countDocuments({ _id: ids._id, state: "superseded" }), 1);
  await publish(world, "acme", first.documentId, 3);
  await receiver.arrivals(3);
  expect(receiver.received.map(tailOf)).toEqual(["1", "2", "3"]);
});

it.concurrent("nothing is sent while signing states an older trust list than delivery has stored", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  {
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    await settled(world, await publish(world, "acme"));
    world.signing.state.revision = 7;
    await untilEqual(async () => (await world.trustList().findOne())?.revision, 7);
    await receiver.arrivals(1);
  }
  // Signing has an older key ring now, and delivery, restarted, must not accept it.
  world.signing.state.revision = 6;
  await using _delivery = await openDelivery(world);
  const waiting = await publish(world, "acme");
  await pause(1_000);
  expect([receiver.received.length, world.feed.isPending(waiting)]).toEqual([1, true]);
  world.signing.state.revision = 8;
  await settled(world, waiting);
  await receiver.arrivals(2);
});

it.concurrent("nothing is sent with a signature of an unlisted key", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  await using delivery = await openDelivery(world);
  await delivery.endpoint("acme", receiver.url);
  await settled(world, await publish(world, "acme"));
  await receiver.arrivals(1);
  world.signing.activeKey().keyId = "ed25519-planted";
  const planted = await publish(world, "acme");
  await pause(1_000);
  expect([receiver.received.length, world.feed.isPending(planted)]).toEqual([1, true]);
  expect(delivery.service.grpcPort).toBeGreaterThan(0);
});

it.concurrent("an unsettled snapshot that was sent before its key was revoked is sent again when it is ingested", async () => {
  await using world = await openWorld();
  await using receiver = await openReceiver();
  {
    await using delivery = await openDelivery(world);
    await delivery.endpoint("acme", receiver.url);
    const { reached } = world.feed.hold("settleSnapshots");
    await publish(world, "acme");
    await Promise.all([reached, receiver.arrivals(1)]);
    await untilEqual(() => world.deliveries().countDocuments({ state: "delivered" }), 1);
  }
  world.feed.hold("settleSnapshots").release();
  world.signing.revoke();
  await using delivery = await openDelivery(world);
  await receiver.arrivals(2);
  expect(receiver.received.map(tailOf)).toEqual(["1", "1_r2"]);
  await untilEqual(() => keyIdsHeld(world), [world.signing.activeKey().keyId]);
  expect(delivery.service.grpcPort).toBeGreaterThan(0);
});
