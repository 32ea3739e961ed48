import { toJson } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  DeliveryLogService,
  ListDeliveriesRequestSchema,
  StartReplayRequestSchema,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const at = timestampFromDate(new Date("2026-01-05T10:00:00.5Z"));
const attempt = { at, took: durationFromMs(12), status: 500, answer: "no\nspace" };
const row = {
  deliveryId: "d1",
  endpointId: "e1",
  event: "snapshot.usable",
  documentId: "doc1",
  documentType: "core/article",
  version: 7n,
  sequence: 3n,
  webhookId: "snp_1_3",
  state: "exhausted",
  attemptCount: 2,
  createdAt: at,
  lastAttempt: attempt,
};
const request = {
  recomputed: true,
  url: "https://hooks.example.org/",
  headers: [{ name: "x-team", value: "•••" }],
  body: Buffer.from('{"id":"snp_1_3"}'),
};
const calls: unknown[] = [];
let polls = 0;
let services: Awaited<ReturnType<typeof openTestServices>>;

beforeAll(async () => {
  services = await openTestServices(
    route(DeliveryLogService, {
      listDeliveries(request) {
        calls.push(toJson(ListDeliveriesRequestSchema, request));
        return { deliveries: [row], nextPageToken: "" };
      },
      getDelivery: ({ includeRequest }) => ({
        delivery: row,
        attempts: [attempt, { ...attempt, replayId: "r0" }],
        ...(includeRequest ? { request } : {}),
      }),
      listReplays({ endpointId }) {
        calls.push({ endpointId });
        return { replays: [{ replayId: "r2", state: "done", seen: 9n, since: at, until: at }] };
      },
      redeliver: ({ deliveryId }) => ({
        delivery: row,
        ...(deliveryId === "d3" ? {} : { attempt: { ...attempt, status: deliveryId === "d1" ? 204 : 500 } }),
      }),
      startReplay(request) {
        calls.push(toJson(StartReplayRequestSchema, request));
        return { replay: { replayId: "r1", state: "running" } };
      },
      getReplay: ({ replayId }) => ({
        replay: { replayId, state: (polls += 1) < 2 ? "running" : "done", seen: 9n, delivered: 9n },
      }),
      countReplay: ({ latestOnly }) => ({ toSend: 7n, seen: 9n, hasMore: latestOnly }),
      countDeliveries({ hours, endpointId }) {
        calls.push({ hours, endpointId });
        const counts = ["pending", "held", "delivered", "superseded"].map((state, count) => ({ state, count }));
        return { hours: [{ start: at, counts: [...counts, { state: "exhausted", count: 10_000, hasMore: true }] }] };
      },
      cancelReplay: ({ replayId }) => ({ replay: { replayId, state: "cancelled" } }),
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => {
  calls.splice(0);
  polls = 0;
});

const deliveries = (...argv: string[]) =>
  run(["deliveries", ...argv, "--tenant", "demo", "--delivery", services.target]);

test("deliveries list sends its filters to the delivery service", async () => {
  const filters = ["--endpoint", "e1", "--document", "doc1", "--webhook", "snp_1_3"];
  filters.push("--state", "exhausted,held", "--since", "2026-01-05", "--until", "2026-01-06");
  expect(await deliveries("list", ...filters)).toMatchObject({ code: 0 });
  expect(calls).toEqual([
    {
      tenantId: "demo",
      endpointId: "e1",
      documentId: "doc1",
      webhookId: "snp_1_3",
      states: ["exhausted", "held"],
      since: "2026-01-05T00:00:00Z",
      until: "2026-01-06T00:00:00Z",
      limit: 50,
    },
  ]);
});

test("deliveries list shows a delivery with the status of its last attempt", async () => {
  const { stdout } = await deliveries("list");
  expect(stdout.split("\n")[1]?.split(/ +/).slice(0, 11)).toEqual([
    "d1",
    "exhausted",
    "2",
    "500",
    "snapshot.usable",
    "doc1",
    "core/article",
    "7",
    "3",
    "snp_1_3",
    "e1",
  ]);
});

test("deliveries list --since with a text that is no time is a wrong command line: exit 2", async () => {
  expect(await deliveries("list", "--since", "yesterday")).toMatchObject({ code: 2 });
  expect(calls).toEqual([]);
});

test("deliveries show prints every attempt on a line of its own", async () => {
  const { stdout } = await deliveries("show", "d1");
  expect(stdout).toContain("  2026-01-05T10:00:00.500Z  500  12 ms  no space\n");
  expect(stdout).toContain("  2026-01-05T10:00:00.500Z  500  12 ms  replay r0  no space\n");
  expect(JSON.parse((await deliveries("show", "d1", "--json")).stdout)).toMatchObject({
    delivery: { id: "d1" },
    attempts: [{}, {}],
  });
});

test("deliveries show --request prints the request, and says that it was computed again", async () => {
  const { stdout } = await deliveries("show", "d1", "--request");
  expect(stdout).toContain("computed again");
  expect(stdout).toContain('POST https://hooks.example.org/\nx-team: •••\n\n{"id":"snp_1_3"}');
  expect(JSON.parse((await deliveries("show", "d1", "--request", "--json")).stdout)).toMatchObject({
    request: { recomputed: true, headers: { "x-team": "•••" }, body: '{"id":"snp_1_3"}' },
  });
});

test("deliveries replays lists an endpoint's replays with state and number of snapshots seen", async () => {
  expect((await deliveries("replays", "e1")).stdout).toContain("r2  done   9 ");
  expect(calls).toEqual([{ endpointId: "e1" }]);
});

test("deliveries redeliver fails after a 500, and succeeds after a 204 or for a pending delivery", async () => {
  expect(await deliveries("redeliver", "d1")).toMatchObject({ code: 0 });
  const expedited = await deliveries("redeliver", "d3");
  expect(expedited).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("delivery d3 is pending, and is attempted"),
  });
  expect(await deliveries("redeliver", "d2")).toMatchObject({
    code: 1,
    stderr: "error: the endpoint did not accept delivery d2\n",
  });
});

test("deliveries replay starts a replay, waits for its end, and says how many snapshots were delivered", async () => {
  const { stdout } = await deliveries("replay", "e1", "--all", "--latest-only");
  expect(stdout).toBe("replay r1 is done: 9 seen, 9 delivered, 0 failed, 0 skipped\n");
  expect(calls).toEqual([{ tenantId: "demo", endpointId: "e1", latestOnly: true, all: true }]);
});

test("deliveries replay fails when no option says what to send, also with --count", async () => {
  for (const more of [[], ["--count"]]) {
    const refused = await deliveries("replay", "e1", ...more);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--since") });
  }
  expect(calls).toEqual([]);
});

test("deliveries replay --cancel ends a replay", async () => {
  expect((await deliveries("replay", "r1", "--cancel")).stdout).toContain("replay r1 is cancelled");
});

test("deliveries replay --status prints how far a replay is, without waiting for its end", async () => {
  const { stdout, pausesMs } = await deliveries("replay", "r1", "--status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ id: "r1", state: "running", seen: 9 });
  expect(pausesMs).toEqual([]);
});

test("deliveries replay --count prints how many snapshots would be sent, and starts no replay", async () => {
  const counted = await deliveries("replay", "e1", "--states", "exhausted", "--count");
  expect(counted).toMatchObject({ code: 0, stdout: "7 of 9 snapshots would be sent\n" });
  const { stdout } = await deliveries("replay", "e1", "--all", "--latest-only", "--count");
  expect(stdout).toBe("7 of the first 9 snapshots would be sent; there are more, which were not looked at\n");
  expect(calls).toEqual([]);
});

test("deliveries count prints counts by hour and state; 10000+ stands for more than 10000", async () => {
  const { stdout, code } = await deliveries("count", "--hours", "2", "--endpoint", "e1");
  expect(code).toBe(0);
  expect(calls).toEqual([{ hours: 2, endpointId: "e1" }]);
  expect(stdout).toMatch(/^HOUR +PENDING +HELD +DELIVERED +SUPERSEDED +EXHAUSTED$/m);
  expect(stdout).toMatch(/^2026-01-05T10:00:00\.500Z +0 +1 +2 +3 +10000\+$/m);
  expect(JSON.parse((await deliveries("count", "--json")).stdout)).toMatchObject({ countedAt: null });
});
