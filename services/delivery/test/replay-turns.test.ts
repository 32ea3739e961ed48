import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client";
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

it("a replay skips what ingest is still to store, which is then sent, and tried again, as always", async () => {
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

it("replays that cannot send, of disabled endpoints or of those that are away, leave their places to others", async () => {
  await using away = await openReceiver((_webhook, response) => response.writeHead(503).end());
  await using receiver = await openReceiver();
  const settled = (tenantId: string) =>
    world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt: new Date(Date.now() - 60_000) });
  for (let n = 0; n < 3; n += 1) {
    const { endpointId } = await delivery.endpoint("stuck", receiver.url);
    await delivery.endpoints.disableEndpoint({ tenantId: "stuck", endpointId }, asAdmin);
    await start("stuck", endpointId);
    settled("gone");
    await start("gone", (await delivery.endpoint("gone", away.url)).endpointId);
  }
  await away.arrivals(1);
  settled("going");
  const { endpointId } = await delivery.endpoint("going", receiver.url);
  expect(await untilDone("going", await start("going", endpointId))).toMatchObject({ delivered: 1n });
});

it("a replay of what is missing goes on with what it has tried when its receiver comes back", async () => {
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
