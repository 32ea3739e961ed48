import { patient } from "@vidimus/kit/testing/patient";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, it, vi } from "vitest";
import { promisedRetries } from "../domain/retry-plan.ts";
import type { AttemptOutcome } from "../domain/delivery.ts";
import type { Reference } from "../domain/payload.ts";
import { type LeasedLane, toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import { aheadMsOf } from "../domain/lease-ahead.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { EndpointQueues } from "./endpoint-queues.ts";
import { StoredGates } from "./stored-gates.ts";
import { MissingBodies } from "./missing-bodies.ts";
import { Sender } from "./sender.ts";

const now = new Date();

function laneOf(endpoint: number, n: number) {
  const ids = { tenantId: "acme", endpointId: `e${endpoint}`, documentId: `d${n}`, deliveryId: `${endpoint}-${n}` };
  const row = { ...ids, webhookId: `snp_${n}`, sequence: 1, signingNumber: 1, createdAt: now, bodyBytes: 2_000 };
  const rows = wholeLane([toNewSendable({ ...row, standing: "leased" })]);
  const leaseUntil = new Date(now.getTime() + 3_600_000);
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, rows, { leaseUntil, dueAt: now });
}

function endpointOf(endpointId: string) {
  const settings = { createdAt: now, secrets: [Buffer.alloc(32)] as const, enabled: true, events: [], headers: {} };
  return { endpointId, tenantId: "acme", url: `https://${endpointId}.example/`, maxInFlight: 32, ...settings };
}

interface Answers {
  /** What the payload waits for. */
  readonly body?: () => Promise<void>;
  readonly journaled?: "done" | "lost";
  /** Whether the end of a lost row is noted. */
  readonly isNoted?: boolean;
  readonly isDisabled?: boolean;
  /** The lane that goes on once an attempt is recorded. */
  readonly next?: LeasedLane;
  readonly expediteEndpoint?: () => Promise<void>;
}

/** A sender whose attempts end when the test says so. */
async function openSender(answers: Answers = {}) {
  const { body = async () => {}, journaled = "done", isNoted = false, isDisabled = true, next } = answers;
  const ended: Reference[] = [];
  const posted: { url: string; end: (outcome: AttemptOutcome) => void }[] = [];
  const nothing = async () => {};
  const payload = { webhookId: "snp", signingNumber: 1, event: "snapshot.usable", keyId: "k", committedAt: now };
  const states = { list: async () => [], findMany: async () => [], put: async () => "1", delete: async () => true };
  const log = pino({ level: "silent" });
  const gates = new StoredGates({ states, announceClosed: nothing, log });
  const bodies = new BodyBudget(64 * 1024 * 1024);
  const pace = { attemptMs: 15_000, leaseMs: 20_000 };
  const shared = { aheadMs: aheadMsOf(pace), bodyBytes: () => 2_000, answerTimes: new AnswerTimes(), bodies };
  const queues = new EndpointQueues({ shared, states, gates, isPreferredFor: () => true });
  queues.noteTakeover();
  await queues.readGates();
  const registry = new Registry();
  const sender = new Sender({
    queues,
    gates,
    bodies,
    missingBodies: new MissingBodies(),
    alarm: new Alarm(),
    directory: {
      find: async (endpointId) => endpointOf(endpointId),
      findNow: async (endpointId) => endpointOf(endpointId),
    },
    payloads: {
      get: async () => {
        await body();
        return { ...payload, body: Buffer.from("{}") };
      },
      put: () => {},
      noteEnded: (reference) => ended.push(reference),
      prefetch: () => {},
      meanBytes: () => 2_000,
    },
    lanes: {
      renew: async () => true,
      loadArrivals: async (lane) => lane,
      appointBearers: nothing,
      expedite: nothing,
      claim: async () => [],
      release: nothing,
      expediteEndpoint: answers.expediteEndpoint ?? nothing,
    },
    journal: {
      record: async (records) => records.map(() => ({ kind: journaled, ...(next ? { lane: next } : {}) })),
      noteAccepted: async () => isNoted,
    },
    resentRows: { endOutrun: async () => [] },
    fresh: { hasOthers: () => false },
    deleteUndelivered: nothing,
    disableGone: async () => isDisabled,
    metrics: createDeliveryMetrics({
      registry,
      lanes: { backlog: async () => [] },
      endpoints: { listDisabledIds: async () => [] },
      queues,
    }),
    post: ({ url }) => new Promise((end) => posted.push({ url, end })),
    retries: promisedRetries,
    ...pace,
    log,
  });
  return { sender, posted, ended, queues, gates, registry };
}

it("lets a tenant's endpoints take turns once the tenant has 512 attempts in flight", async () => {
  const { sender, posted } = await openSender();
  for (let endpoint = 0; endpoint < 17; endpoint++) {
    const lanes = Array.from({ length: 32 }, (_, n) => laneOf(endpoint, n));
    sender.take(lanes, []);
  }
  await vi.waitFor(() => expect(posted).toHaveLength(512), patient);
  sender.take([laneOf(0, 32)], []);
  posted[0]!.end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(() => expect(posted).toHaveLength(513), patient);
  expect(posted.at(-1)!.url).toBe("https://e16.example/");
  for (const { end } of posted) end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(() => expect(posted).toHaveLength(17 * 32 + 1), patient);
  for (const { end } of posted) end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await sender[Symbol.asyncDispose]();
});

it("the sender reserves lanes at the pace that an endpoint had before it was idle", async () => {
  const { sender, posted, queues } = await openSender();
  const burst = new Map([[endpointOf("e0"), 256]]);
  using unknown = await sender.reserve(burst, true);
  expect(unknown.of("e0")).toBe(64);
  unknown[Symbol.dispose]();
  sender.take([laneOf(0, 0)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(1), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 5, status: 204 });
  await vi.waitFor(() => expect([...queues]).toEqual([]), patient);
  using known = await sender.reserve(burst, true);
  expect(known.of("e0")).toBe(256);
});

it("reserves fewer lanes when bodies take long to be made, even if the endpoint answers within 5 ms", async () => {
  const { sender, posted, queues } = await openSender({ body: () => new Promise((end) => setTimeout(end, 300)) });
  sender.take([laneOf(0, 0)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(1), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 5, status: 204 });
  await vi.waitFor(() => expect([...queues]).toEqual([]), patient);
  using known = await sender.reserve(new Map([[endpointOf("e0"), 256]]), false);
  expect(known.of("e0")).toBeLessThan(128);
});

it("sends a waiting lane as the probe at once when a probe is asked for, while another attempt hangs", async () => {
  const { sender, posted, queues } = await openSender();
  sender.take(
    Array.from({ length: 6 }, (_, n) => laneOf(0, n)),
    [],
  );
  await vi.waitFor(() => expect(posted).toHaveLength(6), patient);
  for (const { end } of posted.slice(1)) end({ startedAt: new Date(), tookMs: 1, status: 503 });
  await vi.waitFor(() => expect(queues.find("e0")!.probeAt()).toBeGreaterThan(Date.now()), patient);
  sender.take([laneOf(0, 6)], []);
  sender.wantProbe("e0");
  // The probe is in flight already: a timer would have started it after five seconds.
  expect(queues.find("e0")!.probeAt()).toBeUndefined();
  await vi.waitFor(() => expect(posted).toHaveLength(7), patient);
  for (const { end } of posted) end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await sender[Symbol.asyncDispose]();
});

it("tells the payload cache of a delivery that has ended, not of one that will be tried again", async () => {
  const { sender, posted, ended } = await openSender();
  sender.take([laneOf(0, 0), laneOf(0, 1)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(2), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 1, status: 503 });
  posted[1]!.end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(() => expect(ended.length).toBeGreaterThan(0), patient);
  await sender[Symbol.asyncDispose]();
  expect(ended).toMatchObject([{ documentId: laneOf(0, 1).state.rows[0]!.documentId }]);
});

it.each([
  ["a 2xx that is recorded is counted as delivered once", "done", false, 1],
  ["a 2xx in a lost lane is counted as delivered once when the end of its row can still be noted", "lost", true, 1],
  ["a 2xx in a lost lane is not counted as delivered when its row has ended already", "lost", false, 0],
] as const)("%s", async (_title, journaled, isNoted, endings) => {
  const { sender, posted, registry } = await openSender({ journaled, isNoted });
  sender.take([laneOf(0, 0)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(1), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(
    async () => expect(await registry.metrics()).toContain('vidimus_delivery_attempts_total{outcome="2xx"} 1'),
    patient,
  );
  const text = await registry.metrics();
  expect(text).toContain(`vidimus_deliveries_ended_total{state="delivered"} ${endings}`);
  expect(text).toContain(`vidimus_delivery_seconds_count ${endings}`);
  await sender[Symbol.asyncDispose]();
});

it("starts no second claim for an endpoint while one is under way", async () => {
  const { sender, posted, ended, queues, gates } = await openSender();
  const read = Promise.withResolvers<void>();
  const refresh = vi.spyOn(gates, "refresh").mockReturnValue(read.promise);
  sender.take([laneOf(0, 0), laneOf(0, 1)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(2), patient);
  queues.find("e0")!.noteMoreDue();
  for (const { end } of posted) end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(() => expect(ended).toHaveLength(2), patient);
  expect(refresh).toHaveBeenCalledTimes(1);
  read.resolve();
  await sender[Symbol.asyncDispose]();
});

it.each([
  ["forgets the 410s of an endpoint that they have disabled", true],
  ["remembers the 410s of an endpoint that another change has kept enabled", false],
])("%s", async (_title, isDisabled) => {
  const { sender, posted, queues } = await openSender({ isDisabled });
  const goneAt = Date.now() - 60_000;
  const queue = queues.of(endpointOf("e0"));
  queue.adopt({ ...newGate, goneAt });
  sender.take([laneOf(0, 0)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(1), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 1, status: 410 });
  await vi.waitFor(() => expect(queue.gate.refusals).toBe(isDisabled ? 0 : 1), patient);
  await sender[Symbol.asyncDispose]();
  expect(queue.gate.goneAt).toBe(isDisabled ? undefined : goneAt);
});

it("a lane going on with its next row stays in hand even if ending a recovered endpoint's backoffs fails", async () => {
  const tried = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("MongoDB does not answer"));
  const { sender, posted, queues } = await openSender({ next: laneOf(0, 0), expediteEndpoint: tried });
  const at = Date.now();
  const queue = queues.of(endpointOf("e0"));
  queue.adopt({ ...newGate, open: { since: at - 60_000, nextProbeAt: at, spacingMs: 5_000 } });
  sender.take([laneOf(0, 0)], []);
  await vi.waitFor(() => expect(posted).toHaveLength(1), patient);
  posted[0]!.end({ startedAt: new Date(), tookMs: 1, status: 204 });
  await vi.waitFor(() => expect(posted).toHaveLength(2), patient);
  expect(tried).toHaveBeenCalled();
  await vi.waitFor(() => expect(queues.find("e0")).toBe(queue), patient);
  expect(sender.isInHand(laneOf(0, 0).state.rows[0]!)).toBe(true);
});
