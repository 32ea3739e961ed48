import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { snapshotOf } from "./support/feed.ts";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, type World } from "./support/world.ts";

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
const start = async (tenantId: string, endpointId: string) =>
  (await log.startReplay({ tenantId, endpointId, all: true }, asAdmin)).replay!.replayId;
const untilDone = (tenantId: string, replayId: string) =>
  eventually(async () => {
    const { replay } = await log.getReplay({ tenantId, replayId });
    expect(replay?.state).toBe("done");
    return replay!;
  });

it("a snapshot that a replay skips, because ingest has not stored it yet, is then sent and retried", async () => {
  const tenantId = "early";
  let status = 500;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end());
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  const documentId = randomUUID();
  const snapshot = { ...snapshotOf(tenantId, documentId), committedAt: new Date(Date.now() - 60_000) };
  const reading = world.feed.hold("getSnapshots");
  world.feed.publish(snapshot);
  const replay = await untilDone(tenantId, await start(tenantId, endpointId));
  expect(replay).toMatchObject({ seen: 1n, skipped: 1n, failed: 0n });
  expect(receiver.received).toEqual([]);
  reading.release();
  await world.broker.announce(snapshot);
  await receiver.arrivals(1);
  status = 204;
  await eventually(async () => {
    const rows = await world.deliveries().find({ tenantId }).toArray();
    expect(rows).toMatchObject([{ state: "delivered" }]);
  });
});

it("a replay is done while six others wait for endpoints that are disabled or answer 503", async () => {
  await using away = await openReceiver((_webhook, response) => response.writeHead(503).end());
  await using receiver = await openReceiver();
  const settled = (tenantId: string) =>
    world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt: new Date(Date.now() - 60_000) });
  const waiting: { tenantId: string; replayId: string }[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { endpointId } = await delivery.endpoint("stuck", receiver.url);
    await delivery.endpoints.disableEndpoint({ tenantId: "stuck", endpointId }, asAdmin);
    waiting.push({ tenantId: "stuck", replayId: await start("stuck", endpointId) });
    settled("gone");
    const { endpointId: failingId } = await delivery.endpoint("gone", away.url);
    waiting.push({ tenantId: "gone", replayId: await start("gone", failingId) });
  }
  await away.arrivals(1);
  settled("going");
  const { endpointId } = await delivery.endpoint("going", receiver.url);
  expect(await untilDone("going", await start("going", endpointId))).toMatchObject({ delivered: 1n });
  for (const each of waiting) expect((await log.getReplay(each)).replay?.state).toBe("running");
});

it("a replay of missing snapshots sends a snapshot again after a 503, until the receiver accepts it", async () => {
  const tenantId = "back";
  let status = 503;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end());
  world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt: new Date(Date.now() - 60_000) });
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  const { replay } = await log.startReplay({ tenantId, endpointId, states: ["missing"] }, asAdmin);
  await receiver.arrivals(2);
  status = 204;
  expect(await untilDone(tenantId, replay!.replayId)).toMatchObject({ seen: 1n, delivered: 1n, skipped: 0n });
});

it("a replay goes on past snapshots that are refused four times, and counts them as failed", async () => {
  const tenantId = "refusing";
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(422).end());
  for (let n = 0; n < 3; n += 1) {
    world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt: new Date(Date.now() - 60_000) });
  }
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  expect(await untilDone(tenantId, await start(tenantId, endpointId))).toMatchObject({ failed: 3n });
  expect(receiver.received).toHaveLength(12);
  const { deliveries } = await log.listDeliveries({ tenantId });
  expect(deliveries.map(({ state }) => state)).toEqual(["exhausted", "exhausted", "exhausted"]);
});

/** An endpoint whose replays run until they are cancelled, because its receiver accepts nothing. */
async function openUnavailable(tenantId: string) {
  const receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt: new Date(Date.now() - 60_000) });
  return { name: { tenantId, endpointId }, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

it("a replay is refused when its limits are missing or contradict each other", async () => {
  const tenantId = "limited";
  const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook");
  const name = { tenantId, endpointId };
  const at = (ms: number) => timestampFromMs(Date.now() + ms);
  for (const [request, message] of [
    [{}, "all must be true"],
    [{ latestOnly: true, until: at(0) }, "all must be true"],
    [{ all: true, since: at(-1_000) }, "all must not be true beside"],
    [{ since: at(-1_000), until: at(-2_000) }, "since must not be after until"],
    [{ since: at(60_000) }, "which is now unless it is given"],
  ] as const) {
    await expect(log.startReplay({ ...name, ...request }, asAdmin)).rejects.toThrow(message);
  }
});

it("while a replay runs, another replay of its endpoint is refused with the running one's id", async () => {
  await using opened = await openUnavailable("ruled");
  const { name } = opened;
  const first = await start(name.tenantId, name.endpointId);
  const refused = await log.startReplay({ ...name, all: true }, asAdmin).catch((error: unknown) => error);
  expect(fromConnectError(refused)).toMatchObject({ reason: "replay_running", metadata: { replay_id: first } });
  await log.cancelReplay({ tenantId: name.tenantId, replayId: first }, asAdmin);
  const { replay } = await log.startReplay({ ...name, all: true }, asAdmin);
  await log.cancelReplay({ tenantId: name.tenantId, replayId: replay!.replayId }, asAdmin);
});

it("a cancelled replay has the state cancelled, also after a second cancellation", async () => {
  await using opened = await openUnavailable("cancelled");
  const { tenantId, endpointId } = opened.name;
  const name = { tenantId, replayId: await start(tenantId, endpointId) };
  for (let turn = 0; turn < 2; turn += 1) {
    expect((await log.cancelReplay(name, asAdmin)).replay?.state).toBe("cancelled");
  }
  expect((await log.getReplay(name)).replay?.state).toBe("cancelled");
});

it("listing the replays of another tenant's endpoint is refused: there is no such endpoint", async () => {
  const { endpointId } = await delivery.endpoint("owner", "http://127.0.0.1:9/hook");
  expect((await log.listReplays({ tenantId: "owner", endpointId })).replays).toEqual([]);
  await expect(log.listReplays({ tenantId: "stranger", endpointId })).rejects.toThrow("there is no such endpoint");
});

it("an endpoint's replays are listed newest first, in pages", async () => {
  await using opened = await openUnavailable("listed");
  const { name } = opened;
  const first = await start(name.tenantId, name.endpointId);
  await log.cancelReplay({ tenantId: name.tenantId, replayId: first }, asAdmin);
  const { replay } = await log.startReplay({ ...name, states: ["missing"] }, asAdmin);
  const second = replay!.replayId;
  const page = await log.listReplays({ ...name, limit: 1 });
  expect(page.replays).toMatchObject([{ replayId: second, states: ["missing"] }]);
  const rest = await log.listReplays({ ...name, limit: 1, pageToken: page.nextPageToken });
  expect(rest).toMatchObject({ replays: [{ replayId: first, state: "cancelled" }], nextPageToken: "" });
  await log.cancelReplay({ tenantId: name.tenantId, replayId: second }, asAdmin);
});

it("a start or cancellation of a replay leaves an audit entry, but not when it changes nothing", async () => {
  await using opened = await openUnavailable("audited");
  const { name } = opened;
  const { tenantId, endpointId } = name;
  const first = await start(tenantId, endpointId);
  await expect(start(tenantId, endpointId)).rejects.toThrow(first);
  for (let turn = 0; turn < 2; turn += 1) await log.cancelReplay({ tenantId, replayId: first }, asAdmin);
  const second = await start(tenantId, endpointId);
  const { entries } = await delivery.endpoints.listAuditEntries({ tenantId }, asAdmin);
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ["start_replay", second],
    ["cancel_replay", first],
    ["start_replay", first],
    ["create_endpoint", endpointId],
  ]);
  await log.cancelReplay({ tenantId, replayId: second }, asAdmin);
});
