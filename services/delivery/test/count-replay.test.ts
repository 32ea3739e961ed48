import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { countCommands } from "@vidimus/devstack/testing/count-commands";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { patient } from "@vidimus/kit/testing/patient";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type FeedSnapshot, snapshotOf } from "./support/feed.ts";
import { openReceiver } from "./support/receiver.ts";
import { asAdmin, openDelivery, openWorld, publish, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;
let log: RpcClient<typeof DeliveryLogService>;
const commands = countCommands("delivery");

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
  log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
});
afterAll(async () => {
  commands[Symbol.dispose]();
  log?.[Symbol.dispose]();
  await delivery?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const agoMs = 60_000;
const kindOf = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => fromConnectError(error)?.kind,
  );

/**
 * Stores settled snapshots without deliveries, like those from before an endpoint was registered.
 */
function store(tenantId: string, count: number, other: Partial<FeedSnapshot> = {}): void {
  for (let nth = 0; nth < count; nth += 1) {
    const committedAt = new Date(Date.now() - agoMs + nth);
    world.feed.store({ ...snapshotOf(tenantId, randomUUID()), committedAt, ...other });
  }
}

/** Starts a replay. @returns how many snapshots it sent, whether they were accepted or refused */
async function sentBy(request: { tenantId: string; endpointId: string; states?: string[]; all?: boolean }) {
  const { replay } = await log.startReplay(request, asAdmin);
  return vi.waitFor(async () => {
    const name = { tenantId: request.tenantId, replayId: replay!.replayId };
    const found = (await log.getReplay(name)).replay!;
    expect(found.state).toBe("done");
    return found.delivered + found.failed;
  }, patient);
}

it("a count looks at 10,000 snapshots at most, a thousand at a time, and says that there are more", async () => {
  const tenantId = "many";
  store(tenantId, 10_500);
  const { endpointId } = await delivery.endpoint(tenantId, "http://127.0.0.1:9/hook");
  const used = await commands.during(async () => {
    const counted = await log.countReplay({ tenantId, endpointId, all: true });
    expect(counted).toMatchObject({ toSend: counted.seen, hasMore: true });
    expect(Number(counted.seen)).toBeGreaterThanOrEqual(1_000);
    expect(Number(counted.seen)).toBeLessThanOrEqual(10_000);
    expect(Number(counted.seen) % 1_000).toBe(0);
  });
  expect(used.filter((each) => each === "find deliveries").length).toBeLessThanOrEqual(10);
  expect(used.filter((each) => /insert|update|delete/.test(each) && /deliveries|replays/.test(each))).toEqual([]);
});

it("a replay of missing or of given-up snapshots sends as many as were counted before it", async () => {
  const tenantId = "counted";
  let status = 422;
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(status).end());
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  store(tenantId, 5);
  const missing = { tenantId, endpointId, states: ["missing"] };
  expect(await log.countReplay(missing)).toMatchObject({ toSend: 5n, seen: 5n, hasMore: false });
  expect(await sentBy(missing)).toBe(5n);
  expect((await log.countReplay(missing)).toSend).toBe(0n);
  const exhausted = { tenantId, endpointId, states: ["exhausted"] };
  expect((await log.countReplay(exhausted)).toSend).toBe(5n);
  status = 204;
  expect(await sentBy(exhausted)).toBe(5n);
  expect((await log.countReplay({ tenantId, endpointId, all: true })).toSend).toBe(5n);
  const since = timestampFromMs(Date.now());
  expect(await log.countReplay({ tenantId, endpointId, since })).toMatchObject({ toSend: 0n, seen: 0n });
});

it("snapshots that the endpoint's events exclude are not counted as to be sent", async () => {
  const tenantId = "narrow";
  const request = { tenantId, url: "http://127.0.0.1:9/hook", events: { names: ["snapshot.withheld"] } };
  const { endpoint } = await delivery.endpoints.createEndpoint(request, asAdmin);
  store(tenantId, 3);
  store(tenantId, 2, { status: "withheld" });
  const all = { tenantId, endpointId: endpoint!.endpointId, all: true };
  expect(await log.countReplay(all)).toMatchObject({ toSend: 2n, seen: 5n });
});

it("snapshots whose deliveries are pending are not counted as to be sent", async () => {
  const tenantId = "waiting";
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
  const { endpointId } = await delivery.endpoint(tenantId, receiver.url);
  await publish(world, tenantId);
  await receiver.arrivals(1);
  expect(await log.countReplay({ tenantId, endpointId, all: true })).toMatchObject({ toSend: 0n, seen: 1n });
});

it.each<[string, object]>([
  ["neither all, states nor since", {}],
  ["both all and states", { all: true, states: ["missing"] }],
  ["an unknown state", { states: ["lost"] }],
  ["a since later than its until", { since: timestampFromMs(2_000), until: timestampFromMs(1_000) }],
])("a count with %s is refused", async (_, choice) => {
  const { endpointId } = await delivery.endpoint("own", "http://127.0.0.1:9/hook");
  expect(await kindOf(log.countReplay({ tenantId: "own", endpointId, ...choice }))).toBe("invalid");
});

it("a count for another tenant's endpoint is answered with not_found", async () => {
  const { endpointId } = await delivery.endpoint("own", "http://127.0.0.1:9/hook");
  expect(await kindOf(log.countReplay({ tenantId: "other", endpointId, all: true }))).toBe("not_found");
});
