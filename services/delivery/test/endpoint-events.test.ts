import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { verifyDelivery } from "../../../packages/verify/src/verify.ts";
import { type GateState, newGate } from "../src/domain/endpoint-gate.ts";
import { openReceiver, type ReceivedWebhook, type Receiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

/** Two replicas, of which each may announce what the other has changed. */
let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;
let other: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
  other = await openDelivery(world);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 15_000, interval: 20 });
const bothEvents = ["endpoint.disabled", "endpoint.recovered"];

interface Content {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

const contentOf = ({ body }: ReceivedWebhook) => JSON.parse(body.toString()) as Content;
const typesOf = ({ received }: Receiver) => received.map((webhook) => contentOf(webhook).type);

/** Registers an endpoint that gets these events only. */
async function register(of: typeof delivery, tenantId: string, url: string, events: string[]) {
  const { endpoint, secret } = await of.endpoints.createEndpoint({ tenantId, url, events: { names: events } }, asAdmin);
  return { tenantId, endpointId: endpoint!.endpointId, secret };
}

/** Resolves when nothing about the tenant's endpoints is left to announce or to deliver. */
async function untilAnnounced(tenantId: string): Promise<void> {
  await eventually(async () => {
    expect(await world.endpoints().countDocuments({ tenantId, notices: { $exists: true } })).toBe(0);
    expect(await world.deliveries().countDocuments({ tenantId, state: "pending" })).toBe(0);
  });
}

it("disablings and enablings are told to the tenant's endpoints that subscribe and are enabled then", async () => {
  const tenantId = "told";
  await using watching = await openReceiver();
  await using quiet = await openReceiver();
  await register(delivery, tenantId, watching.url, bothEvents);
  await register(delivery, tenantId, quiet.url, ["snapshot.usable"]);
  await using own = await openReceiver();
  const subject = await register(delivery, tenantId, own.url, ["snapshot.usable", ...bothEvents]);
  await using strange = await openReceiver();
  await register(delivery, "stranger", strange.url, bothEvents);
  const { endpoint: disabled } = await delivery.endpoints.disableEndpoint(subject, asAdmin);
  await delivery.endpoints.disableEndpoint(subject, asAdmin);
  await watching.arrivals(1);
  await other.endpoints.enableEndpoint(subject, asAdmin);
  await Promise.all([watching.arrivals(2), own.arrivals(1)]);
  await untilAnnounced(tenantId);
  expect([typesOf(watching), typesOf(own), typesOf(quiet), typesOf(strange)]).toEqual([
    bothEvents,
    ["endpoint.recovered"],
    [],
    [],
  ]);
  const [first, second] = watching.received.map(contentOf);
  const about = { tenantId, endpointId: subject.endpointId, host: new URL(own.url).host };
  expect(first).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-f]{32}_\d+_disabled$/),
    type: "endpoint.disabled",
    timestamp: expect.any(String),
    data: { ...about, reason: "operator", actor: "kari" },
  });
  expect(second!.data).toEqual({ ...about, reason: "enabled", since: first!.timestamp });
  expect(Date.parse(first!.timestamp)).toBe(
    Number(disabled!.disablement!.at!.seconds) * 1000 + Math.floor(disabled!.disablement!.at!.nanos / 1e6),
  );
});

it("an event is signed with the secret of its receiver, and with no signing key", async () => {
  const tenantId = "signed";
  await using watching = await openReceiver();
  const watcher = await register(delivery, tenantId, watching.url, bothEvents);
  const subject = await register(delivery, tenantId, "http://127.0.0.1:9/", ["snapshot.usable"]);
  await delivery.endpoints.disableEndpoint(subject, asAdmin);
  await watching.arrivals(1);
  await delivery.endpoints.enableEndpoint(subject, asAdmin);
  await watching.arrivals(2);
  for (const webhook of watching.received) {
    expect(webhook.headers).not.toHaveProperty("vidimus-key-id");
    const headers = webhook.headers as Record<string, string>;
    const request = { headers, body: webhook.body };
    expect(await verifyDelivery(request, { secret: watcher.secret, keys: [] })).toMatchObject({ kind: "event" });
  }
});

it("a change whose process died before announcing it is announced once by another process", async () => {
  const tenantId = "left";
  await using watching = await openReceiver();
  await register(delivery, tenantId, watching.url, bothEvents);
  const { endpointId } = await register(delivery, tenantId, "http://127.0.0.1:9/", ["snapshot.usable"]);
  const since = new Date(Date.now() - 60_000);
  const notice = { event: "endpoint.disabled" as const, reason: "gone" as const, at: since, since };
  await world.endpoints().updateOne({ _id: endpointId }, { $set: { notices: [notice] } });
  // Every process looks for notices when another one joins or leaves.
  await using _third = await openDelivery(world);
  await watching.arrivals(1);
  await untilAnnounced(tenantId);
  expect(watching.received.map((webhook) => contentOf(webhook).data)).toEqual([
    { tenantId, endpointId, host: "127.0.0.1:9", reason: "gone", actor: null },
  ]);
});

/** Disables an endpoint, which is told to another one. @returns the id of the disabled one */
async function tellDisabling(tenantId: string, watching: Receiver): Promise<string> {
  await register(delivery, tenantId, watching.url, ["endpoint.disabled"]);
  const subject = await register(delivery, tenantId, "http://127.0.0.1:9/", ["snapshot.usable"]);
  await delivery.endpoints.disableEndpoint(subject, asAdmin);
  await watching.arrivals(1);
  await untilAnnounced(tenantId);
  return subject.endpointId;
}

const openLog = () => openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });

it("an event that its receiver has refused is sent again, unchanged", async () => {
  await using watching = await openReceiver((_webhook, response) =>
    response.writeHead(watching.received.length > 1 ? 204 : 500).end(),
  );
  await tellDisabling("refused", watching);
  expect(watching.received).toHaveLength(2);
  expect(new Set(watching.received.map(({ body }) => body.toString())).size).toBe(1);
});

it("an event is listed with the endpoint that it is about, and without a document", async () => {
  const tenantId = "listed";
  await using watching = await openReceiver();
  const aboutEndpointId = await tellDisabling(tenantId, watching);
  using log = openLog();
  expect((await log.listDeliveries({ tenantId })).deliveries).toMatchObject([
    { event: "endpoint.disabled", aboutEndpointId, documentId: "", sequence: 0n, state: "delivered" },
  ]);
});

it("an event is sent again by a redelivery", async () => {
  const tenantId = "again";
  await using watching = await openReceiver();
  await tellDisabling(tenantId, watching);
  using log = openLog();
  const [{ deliveryId } = { deliveryId: "" }] = (await log.listDeliveries({ tenantId })).deliveries;
  expect((await log.redeliver({ tenantId, deliveryId }, asAdmin)).attempt).toMatchObject({ status: 204 });
  const [first, second] = watching.received;
  expect(second!.body).toEqual(first!.body);
  expect(second!.headers).toHaveProperty("vidimus-replay-id");
});

/**
 * An open breaker as another replica has left it. The next probe is an hour away; only a request
 * makes it earlier.
 */
function openSince(since: number): GateState {
  const open = { since, nextProbeAt: Date.now() + 3_600_000, spacingMs: 300_000 };
  return { ...newGate, failures: 5, open };
}

it("a subscriber is told of a disabling by 410s and of recoveries by a ping and by a redelivery", async () => {
  const tenantId = "trouble";
  await using own = await openWorld();
  await using watching = await openReceiver();
  await using gone = await openReceiver((_webhook, response) => response.writeHead(410).end());
  await using mended = await openReceiver();
  const registering = await openDelivery(own);
  await register(registering, tenantId, watching.url, bothEvents);
  const ids: string[] = [];
  for (const { url } of [gone, mended, mended]) {
    ids.push((await register(registering, tenantId, url, ["snapshot.usable"])).endpointId);
  }
  const [goneId, pingedId, redeliveredId] = ids as [string, string, string];
  await registering[Symbol.asyncDispose]();
  const since = Date.now() - 300_000;
  const states: [string, GateState][] = [
    [goneId, { ...newGate, goneAt: since }],
    [pingedId, openSince(since)],
    [redeliveredId, openSince(since + 1)],
  ];
  for (const [_id, gate] of states)
    await own.states().insertOne({ _id, tenantId, gate, generation: _id, updatedAt: new Date() });
  await using first = await openDelivery(own);
  await using second = await openDelivery(own);
  await publish(own, tenantId);
  using log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${second.service.grpcPort}` });
  const pending = await eventually(async () => {
    const { deliveries } = await log.listDeliveries({ tenantId, endpointId: redeliveredId });
    expect(deliveries).toMatchObject([{ state: "pending", attemptCount: 0 }]);
    return deliveries[0]!;
  });
  await watching.arrivals(1);
  await eventually(async () => {
    const { endpoints } = await first.endpoints.listEndpoints({ tenantId });
    const seen = endpoints.map(({ health, disablement }) => [
      health?.gate,
      health?.pendingDocuments,
      disablement?.reason,
    ]);
    expect(seen).toEqual([
      ["closed", 0n, undefined],
      ["disabled", 0n, "gone"],
      ["open", 1n, undefined],
      ["open", 1n, undefined],
    ]);
  });
  expect(mended.received).toEqual([]);
  // One of the two calls reaches the replica that does not send to this tenant.
  expect((await first.endpoints.testEndpoint({ tenantId, endpointId: pingedId }, asAdmin)).ping?.accepted).toBe(true);
  await watching.arrivals(2);
  const { deliveryId } = pending;
  expect((await log.redeliver({ tenantId, deliveryId }, asAdmin)).attempt).toBeUndefined();
  await watching.arrivals(3);
  const told = watching.received.map((webhook) => contentOf(webhook).data);
  expect(told).toMatchObject([
    { endpointId: goneId, reason: "gone", actor: null },
    { endpointId: pingedId, reason: "accepted", since: new Date(since).toISOString() },
    { endpointId: redeliveredId, reason: "accepted", since: new Date(since + 1).toISOString() },
  ]);
  // The other replica may send once more before it hears of the disabling, and store that 410,
  // which no longer counts once the endpoint is enabled again.
  const stored = () => own.states().find().toArray();
  await eventually(async () =>
    expect((await stored()).filter(({ _id, gate }) => _id !== goneId || gate.goneAt === since)).toEqual([]),
  );
});
