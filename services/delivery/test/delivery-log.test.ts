import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type Delivery,
  DeliveryLogService,
  type Replay,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FeedSnapshot, snapshotOf } from "./support/feed.ts";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;
let log: RpcClient<typeof DeliveryLogService>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
  log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
});
afterAll(async () => {
  log[Symbol.dispose]();
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const eventually = <T>(read: () => Promise<T>) => vi.waitFor(read, { timeout: 15_000, interval: 20 });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => Code[ConnectError.from(error).code],
  );
const sequenceOf = ({ body }: ReceivedWebhook) => {
  const { data } = JSON.parse(body.toString()) as { data: { documentId: string; sequence: number } };
  return data;
};
const states = async (tenantId: string) =>
  (await log.listDeliveries({ tenantId })).deliveries.map(({ state }) => state);

/**
 * Stores settled snapshots without deliveries, like those from before an endpoint was registered.
 */
function store(tenantId: string, count: number, sequences = 1): FeedSnapshot[] {
  const stored = Array.from({ length: count }, (_, at) => {
    const documentId = randomUUID();
    const committedAt = new Date(Date.now() - 60_000 + at);
    return Array.from({ length: sequences }, (__, n) => ({
      ...snapshotOf(tenantId, documentId, n + 1),
      committedAt,
    }));
  }).flat();
  for (const each of stored) world.feed.store(each);
  return stored;
}

/**
 * Makes the next signature of a snapshot its third, as if both keys that had signed it were
 * revoked.
 */
function signTwice({ tenantId, documentId, sequence, sha256 }: FeedSnapshot): void {
  const key = { ...world.signing.activeKey(), isRevoked: true };
  const digest = sha256.toString("hex");
  world.signing.ledger.set(`${tenantId}\n${documentId}\n${sequence}`, {
    digest,
    statement: "second",
    key,
    signingNumber: 2,
  });
}

async function untilEnded(tenantId: string, replayId: string): Promise<Replay> {
  return eventually(async () => {
    const { replay } = await log.getReplay({ tenantId, replayId });
    expect(replay?.state).not.toBe("running");
    return replay!;
  });
}

/** Delivers two snapshots to a new endpoint, one after the other. */
async function deliverTwo(tenantId: string, { url }: { url: string }) {
  const { endpointId } = await delivery.endpoint(tenantId, url);
  const first = await publish(world, tenantId);
  await eventually(async () => expect(await states(tenantId)).toEqual(["delivered"]));
  const second = await publish(world, tenantId);
  await eventually(async () => expect(await states(tenantId)).toEqual(["delivered", "delivered"]));
  return { endpointId, first, second };
}

test("the log lists deliveries newest first", async () => {
  await using receiver = await openReceiver();
  const { first, second } = await deliverTwo("logged", receiver);
  const { deliveries } = await log.listDeliveries({ tenantId: "logged" });
  expect(deliveries.map(({ documentId }) => documentId)).toEqual([second.documentId, first.documentId]);
});

test("the log shows the answer to each attempt", async () => {
  const tenantId = "answered";
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(500).end("no space"));
  await delivery.endpoint(tenantId, receiver.url);
  await publish(world, tenantId);
  await receiver.arrivals(2);
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  await eventually(async () => {
    const { attempts } = await log.getDelivery({ tenantId, deliveryId });
    expect(attempts.length).toBeGreaterThan(1);
    const refused = { status: 500, answer: "no space", failure: "", replayId: "" };
    for (const each of attempts) expect(each).toMatchObject(refused);
  });
});

type Delivered = Awaited<ReturnType<typeof deliverTwo>>;
const inMs = (ms: number) => timestampFromDate(new Date(Date.now() + ms));

test.each<[string, number, (of: Delivered) => object, () => object]>([
  ["endpoint", 2, ({ endpointId }) => ({ endpointId }), () => ({ endpointId: randomUUID() })],
  ["document", 1, ({ first }) => ({ documentId: first.documentId }), () => ({ documentId: randomUUID() })],
  ["state", 2, () => ({ states: ["delivered"] }), () => ({ states: ["pending"] })],
  ["earliest time", 2, () => ({ since: inMs(-60_000) }), () => ({ since: inMs(60_000) })],
  ["latest time", 2, () => ({ until: inMs(60_000) }), () => ({ until: inMs(-60_000) })],
])("the log can be filtered by %s", async (name, count, wanted, other) => {
  const tenantId = `by_${name.replace(" ", "_")}`;
  await using receiver = await openReceiver();
  const delivered = await deliverTwo(tenantId, receiver);
  const listedBy = async (query: object) => (await log.listDeliveries({ tenantId, ...query })).deliveries.length;
  expect([await listedBy(wanted(delivered)), await listedBy(other())]).toEqual([count, 0]);
});

test("the log, read page by page until a page has no token, has each delivery once", async () => {
  await using receiver = await openReceiver();
  await deliverTwo("paged", receiver);
  const listed = await log.listDeliveries({ tenantId: "paged" });
  const page = await log.listDeliveries({ tenantId: "paged", limit: 1 });
  const rest = await log.listDeliveries({ tenantId: "paged", limit: 1, pageToken: page.nextPageToken });
  const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ deliveryId }) => deliveryId);
  expect(idsOf([...page.deliveries, ...rest.deliveries])).toEqual(idsOf(listed.deliveries));
  expect(rest.nextPageToken).toBe("");
});

test("the log refuses a state that it does not know", async () => {
  expect(await codeOf(log.listDeliveries({ tenantId: "asking", states: ["lost"] }))).toBe("InvalidArgument");
});

test("a redelivery sends the same webhook again with a replay id, and is logged as a second attempt", async () => {
  await using receiver = await openReceiver();
  await delivery.endpoint("again", receiver.url);
  await publish(world, "again");
  const [first] = await receiver.arrivals(1);
  await eventually(async () => expect(await states("again")).toEqual(["delivered"]));
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId: "again" })).deliveries;
  const { attempt } = await log.redeliver({ tenantId: "again", deliveryId }, asAdmin);
  const [, second] = await receiver.arrivals(2);
  expect(second!.body).toEqual(first!.body);
  expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
  expect(first!.headers).not.toHaveProperty("vidimus-replay-id");
  expect(second!.headers["vidimus-replay-id"]).toBe(attempt?.replayId);
  expect([first, second].map((webhook) => webhook!.headers["vidimus-attempt"])).toEqual(["1", "2"]);
  const { attempts } = await log.getDelivery({ tenantId: "again", deliveryId });
  expect(attempts.map(({ status, replayId }) => [status, replayId])).toEqual([
    [204, ""],
    [204, attempt?.replayId],
  ]);
});

test("a refused redelivery says whether its endpoint or its snapshot is the reason", async () => {
  const tenantId = "refused";
  await using receiver = await openReceiver();
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  await publish(world, tenantId);
  await eventually(async () => expect(await states(tenantId)).toEqual(["delivered"]));
  const row = (await world.deliveries().findOne({ tenantId }))!;
  const lost = { ...row, _id: randomUUID(), documentId: randomUUID() };
  await world.deliveries().insertOne(lost);
  const again = ({ _id: deliveryId }: typeof row) => log.redeliver({ tenantId, deliveryId }, asAdmin);
  await expect(again(lost)).rejects.toThrow("documents or signing have no such snapshot");
  const events = { names: ["snapshot.withheld"] };
  await delivery.endpoints.updateEndpoint({ tenantId, endpointId, events }, asAdmin);
  await expect(again(row)).rejects.toThrow("the endpoint does not get this event any more");
  expect(receiver.received).toHaveLength(1);
});

test("a redelivery leaves an audit entry that names the delivery and the actor", async () => {
  await using receiver = await openReceiver();
  await delivery.endpoint("audited", receiver.url);
  await publish(world, "audited");
  await eventually(async () => expect(await states("audited")).toEqual(["delivered"]));
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId: "audited" })).deliveries;
  await log.redeliver({ tenantId: "audited", deliveryId }, asAdmin);
  const { entries } = await delivery.endpoints.listAuditEntries({ tenantId: "audited" }, asAdmin);
  expect(entries[0]).toMatchObject({ action: "redeliver", subject: deliveryId, actor: "kari" });
});

test("a replay with latestOnly sends a new endpoint the newest snapshot of each document", async () => {
  store("filled", 70, 2);
  await using receiver = await openReceiver();
  const { endpointId } = await delivery.endpoint("filled", receiver.url);
  const started = await log.startReplay({ tenantId: "filled", endpointId, latestOnly: true, all: true }, asAdmin);
  const replayId = started.replay!.replayId;
  const replay = await untilEnded("filled", replayId);
  expect(replay).toMatchObject({ state: "done", seen: 70n, delivered: 70n, failed: 0n, skipped: 0n });
  const arrived = receiver.received.map(sequenceOf);
  expect(new Set(arrived.map(({ documentId }) => documentId)).size).toBe(70);
  expect(new Set(arrived.map(({ sequence }) => sequence))).toEqual(new Set([2]));
  expect(new Set(receiver.received.map(({ headers }) => headers["vidimus-replay-id"]))).toEqual(new Set([replayId]));
});

test("a replay of missing snapshots sends those that the endpoint has not got, and skips the others", async () => {
  store("gaps", 70, 2);
  await using receiver = await openReceiver();
  const { endpointId } = await delivery.endpoint("gaps", receiver.url);
  const newest = await log.startReplay({ tenantId: "gaps", endpointId, latestOnly: true, all: true }, asAdmin);
  expect(await untilEnded("gaps", newest.replay!.replayId)).toMatchObject({ state: "done", delivered: 70n });
  const before = receiver.received.length;
  const missing = await log.startReplay({ tenantId: "gaps", endpointId, states: ["missing"] }, asAdmin);
  const second = await untilEnded("gaps", missing.replay!.replayId);
  expect(second).toMatchObject({ state: "done", seen: 140n, delivered: 70n, skipped: 70n });
  const sent = receiver.received.slice(before).map((webhook) => sequenceOf(webhook).sequence);
  expect(new Set(sent)).toEqual(new Set([1]));
});

/** Stores snapshots that are signed a third time now, and replays them to a new endpoint. */
async function replayUnderThird(tenantId: string, { url }: { url: string }, count: number) {
  for (const each of store(tenantId, count)) signTwice(each);
  const { endpointId } = await delivery.endpoint(tenantId, url);
  const replayed = async (wanted: string[]) => {
    const limits = { states: wanted, all: wanted.length === 0 };
    const { replay } = await log.startReplay({ tenantId, endpointId, ...limits }, asAdmin);
    return untilEnded(tenantId, replay!.replayId);
  };
  expect(await replayed([])).toMatchObject({ state: "done", delivered: BigInt(count) });
  return replayed;
}

test("a replay takes what was sent under a third signature for delivered, not for missing", async () => {
  await using receiver = await openReceiver();
  const replayed = await replayUnderThird("thrice", receiver, 3);
  const ids = receiver.received.map(({ headers }) => String(headers["webhook-id"]));
  expect(ids.filter((id) => id.endsWith("_1_r3"))).toHaveLength(3);
  expect(await replayed(["missing"])).toMatchObject({ state: "done", seen: 3n, delivered: 0n, skipped: 3n });
  expect(await replayed(["delivered"])).toMatchObject({ state: "done", seen: 3n, delivered: 3n });
});

test("a redelivery keeps the third signature of its webhook", async () => {
  const tenantId = "kept";
  await using receiver = await openReceiver();
  await replayUnderThird(tenantId, receiver, 1);
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  await log.redeliver({ tenantId, deliveryId }, asAdmin);
  const [first, second] = receiver.received;
  expect(second!.headers["webhook-id"]).toMatch(/_1_r3$/);
  expect(second!.body).toEqual(first!.body);
  expect((await log.getDelivery({ tenantId, deliveryId })).attempts).toHaveLength(2);
});

test("snapshots that are held while an endpoint is disabled arrive in order when it is enabled", async () => {
  await using receiver = await openReceiver();
  const { endpointId } = await delivery.endpoint("held", receiver.url);
  const name = { tenantId: "held", endpointId };
  await delivery.endpoints.disableEndpoint(name, asAdmin);
  const documentId = randomUUID();
  for (const sequence of [1, 2, 3]) await publish(world, "held", documentId, sequence);
  await eventually(async () => expect(await states("held")).toEqual(["held", "held", "held"]));
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId: "held" })).deliveries;
  expect(await codeOf(log.redeliver({ tenantId: "held", deliveryId }, asAdmin))).toBe("FailedPrecondition");
  expect(receiver.received).toEqual([]);
  await delivery.endpoints.enableEndpoint(name, asAdmin);
  await receiver.arrivals(3);
  expect(receiver.received.map((webhook) => sequenceOf(webhook).sequence)).toEqual([1, 2, 3]);
});

/** An endpoint with a delivery and a replay. */
async function openReplayed(tenantId: string, { url }: { url: string }) {
  const { endpointId } = await deliverTwo(tenantId, { url });
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  const { replay } = await log.startReplay({ tenantId, endpointId, all: true }, asAdmin);
  return { endpointId, deliveryId, replayId: replay!.replayId };
}

test("an editor may not redeliver, or start or cancel a replay", async () => {
  await using receiver = await openReceiver();
  const { endpointId, deliveryId, replayId } = await openReplayed("mine", receiver);
  const asEditor = { headers: { "vidimus-role": "editor" } };
  const refused = await Promise.all([
    codeOf(log.redeliver({ tenantId: "mine", deliveryId }, asEditor)),
    codeOf(log.startReplay({ tenantId: "mine", endpointId, all: true }, asEditor)),
    codeOf(log.cancelReplay({ tenantId: "mine", replayId }, asEditor)),
  ]);
  expect(new Set(refused)).toEqual(new Set(["PermissionDenied"]));
});

test("another tenant finds no delivery and no replay", async () => {
  await using receiver = await openReceiver();
  const { endpointId, deliveryId, replayId } = await openReplayed("ours", receiver);
  const foreign = await Promise.all([
    codeOf(log.getDelivery({ tenantId: "theirs", deliveryId })),
    codeOf(log.redeliver({ tenantId: "theirs", deliveryId }, asAdmin)),
    codeOf(log.startReplay({ tenantId: "theirs", endpointId, all: true }, asAdmin)),
    codeOf(log.getReplay({ tenantId: "theirs", replayId })),
    codeOf(log.cancelReplay({ tenantId: "theirs", replayId }, asAdmin)),
  ]);
  expect(new Set(foreign)).toEqual(new Set(["NotFound"]));
  expect((await log.listDeliveries({ tenantId: "theirs", endpointId })).deliveries).toEqual([]);
});
