import { profiled } from "@vidimus/devstack/testing/profile";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type CountDeliveriesResponse,
  DeliveryLogService,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { hourMs } from "../src/domain/delivery-log.ts";
import type { DeliveryRow } from "../src/store/rows.ts";
import { asAdmin, openDelivery, openWorld, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;
let log: RpcClient<typeof DeliveryLogService>;
let mongo: Awaited<ReturnType<typeof openMongo>>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
  log = openRpcClient(DeliveryLogService, { target: `127.0.0.1:${delivery.service.grpcPort}` });
  mongo = await openMongo({ url: inject("mongoUrl"), database: world.configOf().database, appName: "count-test" });
});
afterAll(async () => {
  log?.[Symbol.dispose]();
  await mongo?.[Symbol.asyncDispose]();
  await delivery?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const url = "http://127.0.0.1:9/hook";
const thisHour = () => Math.floor(Date.now() / hourMs) * hourMs;
const endpointOf = async (tenantId: string) => (await delivery.endpoint(tenantId, url)).endpointId;

/** Stores rows that are `back` hours old. Those that are not pending also ended in that hour. */
async function store(
  tenantId: string,
  endpointId: string,
  state: DeliveryRow["state"],
  back: number,
  count: number,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, nth) => {
    const at = new Date(thisHour() - back * hourMs + (nth % 1_000));
    const ended = state === "pending" ? {} : { endedAt: at };
    const names = { _id: randomUUID(), tenantId, endpointId, documentId: randomUUID(), webhookId: "w" };
    const numbers = { sequence: 1, signingNumber: 1, bodyBytes: 1, generation: 0, attemptCount: 1, retryCount: 0 };
    return { ...names, ...numbers, state, attempts: [], createdAt: at, ...ended };
  });
  await world.deliveries().insertMany(rows);
}

interface ProfiledCount {
  readonly command: { readonly pipeline: readonly [{ readonly $match: Pick<DeliveryRow, "state"> }] };
  readonly docsExamined: number;
  readonly keysExamined: number;
}

/** The commands that counted deliveries of a tenant while `work` ran. */
async function profile(tenantId: string, work: () => Promise<void>): Promise<ProfiledCount[]> {
  const ofTenant = { "command.aggregate": "deliveries", "command.pipeline.0.$match.tenantId": tenantId };
  return (await profiled(mongo.db, ofTenant, work)).entries as ProfiledCount[];
}

/** The counts above zero, each as "hours-ago state count". */
function shownOf({ hours }: CountDeliveriesResponse): string[] {
  return hours.flatMap(({ start, counts }) => {
    const back = (thisHour() - timestampDate(start!).getTime()) / hourMs;
    return counts.flatMap(({ state, count, hasMore }) =>
      count > 0 ? `${back} ${state} ${count}${hasMore ? "+" : ""}` : [],
    );
  });
}

it("deliveries are counted by state and hour: waiting ones by storing time, others by ending time", async () => {
  const tenantId = "told";
  const [endpointId, disabled] = [await endpointOf(tenantId), await endpointOf(tenantId)];
  await delivery.endpoints.disableEndpoint({ tenantId, endpointId: disabled }, asAdmin);
  await store(tenantId, endpointId, "delivered", 0, 3);
  await store(tenantId, endpointId, "delivered", 23, 2);
  await store(tenantId, endpointId, "delivered", 24, 9);
  await store(tenantId, endpointId, "exhausted", 2, 1);
  await store(tenantId, endpointId, "superseded", 2, 4);
  await store(tenantId, disabled, "pending", 1, 5);
  await store(tenantId, disabled, "delivered", 1, 1);
  // Stored an hour before it ended.
  const createdAt = new Date(thisHour() - 3 * hourMs);
  await world.deliveries().updateMany({ tenantId, state: "exhausted" }, { $set: { createdAt } });
  const counted = await log.countDeliveries({ tenantId });
  expect(counted.hours).toHaveLength(24);
  expect(counted.hours[0]?.counts.map(({ state }) => state)).toEqual(
    "pending held delivered superseded exhausted".split(" "),
  );
  const own = ["23 delivered 2", "2 superseded 4", "2 exhausted 1"];
  expect(shownOf(counted)).toEqual([...own, "1 held 5", "1 delivered 1", "0 delivered 3"]);
  expect(shownOf(await log.countDeliveries({ tenantId, endpointId }))).toEqual([...own, "0 delivered 3"]);
  expect(shownOf(await log.countDeliveries({ tenantId, hours: 2 }))).toEqual([
    "1 held 5",
    "1 delivered 1",
    "0 delivered 3",
  ]);
});

it("equal requests, simultaneous or soon after, share one count, with a command per stored state", async () => {
  const tenantId = "asked";
  const endpointId = await endpointOf(tenantId);
  await store(tenantId, endpointId, "delivered", 1, 40);
  const used = await profile(tenantId, async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => log.countDeliveries({ tenantId })));
    expect(new Set(answers.map((each) => shownOf(each).join()))).toEqual(new Set(["1 delivered 40"]));
    await store(tenantId, endpointId, "delivered", 1, 2);
    expect(shownOf(await log.countDeliveries({ tenantId }))).toEqual(["1 delivered 40"]);
  });
  // No endpoint is disabled, so no command looks for held deliveries.
  const states = used.map(({ command }) => command.pipeline[0].$match.state).toSorted();
  expect(states).toEqual(["delivered", "exhausted", "pending", "superseded"]);
  expect(shownOf(await log.countDeliveries({ tenantId, hours: 23 }))).toEqual(["1 delivered 42"]);
});

it("three busy hours are counted up to 10,000 each, in at most six commands that read no row", async () => {
  const tenantId = "busy";
  const endpointId = await endpointOf(tenantId);
  await store(tenantId, endpointId, "delivered", 1, 6_000);
  await store(tenantId, endpointId, "delivered", 2, 10_500);
  await store(tenantId, endpointId, "delivered", 3, 10_000);
  await store(tenantId, endpointId, "delivered", 4, 7);
  await delivery.endpoints.disableEndpoint({ tenantId, endpointId }, asAdmin);
  await store(tenantId, endpointId, "pending", 5, 20);
  const used = await profile(tenantId, async () => {
    const counted = await log.countDeliveries({ tenantId, hours: 20 });
    expect(shownOf(counted)).toEqual([
      "5 held 20",
      "4 delivered 7",
      "3 delivered 10000",
      "2 delivered 10000+",
      "1 delivered 6000",
    ]);
  });
  const delivered = used.filter(({ command }) => command.pipeline[0].$match.state === "delivered");
  expect(delivered.length).toBeLessThanOrEqual(2 * 3);
  expect(used.map(({ docsExamined }) => docsExamined)).toEqual(used.map(() => 0));
  expect(Math.max(...used.map(({ keysExamined }) => keysExamined))).toBeLessThanOrEqual(10_002);
});

it("a tenant's deliveries are not counted for another tenant", async () => {
  const endpointId = await endpointOf("mine");
  await store("mine", endpointId, "delivered", 1, 3);
  expect(shownOf(await log.countDeliveries({ tenantId: "mine" }))).toEqual(["1 delivered 3"]);
  const kindOf = (question: object) =>
    log.countDeliveries({ tenantId: "theirs", ...question }).then(
      (answer) => shownOf(answer).join(),
      (error: unknown) => fromConnectError(error)?.kind,
    );
  expect(await kindOf({})).toBe("");
  expect(await kindOf({ endpointId })).toBe("not_found");
});

it("deliveries to a deleted endpoint are not counted", async () => {
  const tenantId = "leaving";
  const endpointId = await endpointOf(tenantId);
  await store(tenantId, endpointId, "delivered", 1, 3);
  // Another number of hours is another question, so its answer is not the first one's.
  expect(shownOf(await log.countDeliveries({ tenantId, hours: 23 }))).toEqual(["1 delivered 3"]);
  await delivery.endpoints.deleteEndpoint({ tenantId, endpointId }, asAdmin);
  expect(shownOf(await log.countDeliveries({ tenantId }))).toEqual([]);
});

it("counts of the last 48 hours may be asked for, and of no more", async () => {
  expect((await log.countDeliveries({ tenantId: "asking", hours: 48 })).hours).toHaveLength(48);
  const refused = await log.countDeliveries({ tenantId: "asking", hours: 49 }).catch((error: unknown) => error);
  expect(fromConnectError(refused)?.kind).toBe("invalid");
});
