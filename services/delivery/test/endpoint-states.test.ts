import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { newGate } from "../src/domain/endpoint-gate.ts";
import { AnswerTimes } from "../src/lanes/answer-times.ts";
import { BodyBudget } from "../src/lanes/body-budget.ts";
import { EndpointQueue } from "../src/lanes/endpoint-queue.ts";
import { EndpointQueues } from "../src/lanes/endpoint-queues.ts";
import { StoredGates } from "../src/lanes/stored-gates.ts";
import { toLeasedLane, toNewSendable, wholeLane } from "../src/store/delivery-rows.ts";
import { type EndpointState, EndpointStateStore } from "../src/store/endpoint-state-store.ts";

let mongo: Awaited<ReturnType<typeof openMongo>>;
let states: EndpointStateStore;
beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("states"), appName: "test" });
  states = new EndpointStateStore(mongo.db);
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

const log = pino({ level: "silent" });
const shared = { aheadMs: 100, bodyBytes: () => 1, answerTimes: new AnswerTimes(), bodies: new BodyBudget(1e6) };

/** What a process keeps of one endpoint. */
function openProcess(endpointId: string, findMany: EndpointStateStore["findMany"] = states.findMany.bind(states)) {
  const stored = { findMany, put: states.put.bind(states), delete: states.delete.bind(states) };
  const gates = new StoredGates({ states: stored, announceClosed: async () => {}, log });
  const queue = new EndpointQueue({ tenantId: "acme", endpointId }, shared);
  return { gates, queue };
}

function laneOf(endpointId: string, documentId: string) {
  const names = { tenantId: "acme", endpointId, documentId, deliveryId: randomUUID(), webhookId: "snp" };
  const row = {
    ...names,
    sequence: 1,
    signingNumber: 1,
    createdAt: new Date(),
    bodyBytes: 1,
    standing: "leased" as const,
  };
  const times = { leaseUntil: new Date(Date.now() + 20_000), dueAt: new Date() };
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, wholeLane([toNewSendable(row)]), times);
}

it("the gate that a process stores while a probe is in flight lets the next process probe", async () => {
  const endpointId = randomUUID();
  const first = openProcess(endpointId);
  await first.gates.refresh(first.queue);
  const lanes = Array.from({ length: 8 }, (_, n) => laneOf(endpointId, `d${n}`));
  for (const lane of lanes) first.queue.push(lane);
  const now = Date.now();
  const [probed, late, ...others] = first.queue.start(7, now).lanes;
  const failed = { startedAt: new Date(now), tookMs: 1, status: 503 };
  const nameOf = (lane: typeof probed) => lane!.state.rows[0]!;
  for (const lane of others) first.queue.noteAnswer(nameOf(lane), failed, false, now);
  const due = first.queue.probeAt()!;
  expect(first.queue.start(1, due)).toMatchObject({ isProbe: true });
  first.queue.noteAnswer(nameOf(late), { ...failed, retryAfterMs: 1_000 }, false, due);
  await first.gates.keep(first.queue);
  // The first process is killed here.
  const second = openProcess(endpointId);
  await second.gates.refresh(second.queue);
  second.queue.push(laneOf(endpointId, "d9"));
  expect(second.queue.start(1, due + 1_000)).toMatchObject({ isProbe: true, lanes: [{}] });
});

it("an open breaker is stored in place of an ended pause that another process has stored", async () => {
  const endpointId = randomUUID();
  await states.put({ endpointId, tenantId: "acme", gate: { ...newGate, failures: 1, pausedUntil: Date.now() - 1 } });
  const { gates, queue } = openProcess(endpointId);
  const open = { since: Date.now(), nextProbeAt: Date.now() + 5_000, spacingMs: 5_000 };
  queue.adopt({ ...newGate, failures: 5, open });
  await gates.keep(queue);
  expect(queue.gate.open).toEqual(open);
  expect(await states.findMany([endpointId])).toMatchObject([{ gate: { open } }]);
});

it("a process that lost an endpoint does not overwrite its successor's gate but adopts it", async () => {
  const endpointId = randomUUID();
  const [lost, successor] = [openProcess(endpointId), openProcess(endpointId)];
  const open = { since: 1, nextProbeAt: Date.now() + 60_000, spacingMs: 5_000 };
  await lost.gates.refresh(lost.queue);
  lost.queue.adopt({ ...newGate, failures: 5, open });
  await lost.gates.keep(lost.queue);
  await successor.gates.refresh(successor.queue);
  expect(successor.queue.gate.open).toEqual(open);
  const later = { ...open, spacingMs: 40_000 };
  successor.queue.adopt({ ...newGate, failures: 8, open: later });
  await successor.gates.keep(successor.queue);
  lost.queue.adopt(newGate);
  await lost.gates.keep(lost.queue);
  expect((await states.list()).find((state) => state.endpointId === endpointId)?.gate.open).toEqual(later);
  expect(lost.queue.gate.open).toEqual(later);
});

it("a process that reads its gate again adopts the pause that another process has stored", async () => {
  const endpointId = randomUUID();
  const [foreign, preferred] = [openProcess(endpointId), openProcess(endpointId)];
  await foreign.gates.refresh(foreign.queue);
  await preferred.gates.refresh(preferred.queue);
  const now = Date.now();
  for (const pausedUntil of [now + 8_000, now + 16_000]) {
    preferred.queue.adopt({ ...newGate, failures: 1, pausedUntil });
    await preferred.gates.keep(preferred.queue);
    await foreign.gates.refresh(foreign.queue);
    expect([foreign.queue.gate.pausedUntil, foreign.queue.capacity(now)]).toEqual([pausedUntil, 0]);
  }
});

it("a slow read of a gate that was deleted since does not replace a newer gate", async () => {
  const endpointId = randomUUID();
  const found = Promise.withResolvers<EndpointState[]>();
  const { gates, queue } = openProcess(endpointId, () => found.promise);
  queue.adopt(newGate);
  const gate = { ...newGate, failures: 1, pausedUntil: Date.now() + 60_000 };
  const generation = await states.put({ endpointId, tenantId: "acme", gate });
  const refreshed = gates.refresh(queue);
  const stored = await states.findMany([endpointId]);
  expect(stored).toHaveLength(1);
  expect(await states.delete(endpointId, generation!)).toBe(true);
  const pausedUntil = Date.now() + 90_000;
  queue.adopt({ ...newGate, failures: 2, pausedUntil });
  await gates.keep(queue);
  found.resolve(stored);
  await refreshed;
  expect(queue.gate.pausedUntil).toBe(pausedUntil);
});

it("a slow read does not bring back a gate that this process has stored and deleted meanwhile", async () => {
  const endpointId = randomUUID();
  const found = Promise.withResolvers<EndpointState[]>();
  const { gates, queue } = openProcess(endpointId, () => found.promise);
  queue.adopt(newGate);
  const refreshed = gates.refresh(queue);
  queue.adopt({ ...newGate, failures: 1, pausedUntil: Date.now() + 60_000 });
  await gates.keep(queue);
  const stored = await states.findMany([endpointId]);
  expect(stored).toHaveLength(1);
  queue.adopt(newGate);
  await gates.keep(queue);
  found.resolve(stored);
  await refreshed;
  expect(queue.gate).toEqual(newGate);
});

/** A process that has read a stored pause which had ended. */
async function readEndedPause() {
  const endpointId = randomUUID();
  const { gates, queue } = openProcess(endpointId);
  queue.adopt(newGate);
  await states.put({ endpointId, tenantId: "acme", gate: { ...newGate, failures: 4, pausedUntil: Date.now() - 1 } });
  await gates.refresh(queue);
  return { endpointId, gates, queue };
}

it("a process does not adopt a stored pause that has ended", async () => {
  const { queue } = await readEndedPause();
  expect(queue.gate).toEqual(newGate);
});

it("the next gate of a process that has read an ended pause replaces the stored pause", async () => {
  const { endpointId, gates, queue } = await readEndedPause();
  const open = { since: 1, nextProbeAt: Date.now() + 5_000, spacingMs: 5_000 };
  queue.adopt({ ...newGate, failures: 5, open });
  await gates.keep(queue);
  expect(await states.findMany([endpointId])).toMatchObject([{ gate: { open } }]);
});

it("a process that reads its gate again forgets a gate that another process has deleted", async () => {
  const endpointId = randomUUID();
  const gate = { ...newGate, failures: 5, open: { since: 1, nextProbeAt: Date.now() + 60_000, spacingMs: 5_000 } };
  const generation = await states.put({ endpointId, tenantId: "acme", gate });
  const { gates, queue } = openProcess(endpointId);
  await gates.refresh(queue);
  expect(queue.gate).toEqual(gate);
  expect(await states.delete(endpointId, generation!)).toBe(true);
  await gates.refresh(queue);
  expect(queue.gate).toEqual(newGate);
});

it.each([
  [
    "falls idle at a non-preferred replica",
    false,
    async (queues: EndpointQueues, queue: EndpointQueue) => queues.forgetIdle(queue),
  ],
  [
    "is idle at a takeover",
    true,
    async (queues: EndpointQueues) => {
      queues.noteTakeover();
      await queues.readGates();
    },
  ],
])("a closing breaker leaves no stored gate if its queue %s meanwhile", async (_name, isPreferred, meanwhile) => {
  const endpointId = randomUUID();
  const open = { since: 1, nextProbeAt: Date.now(), spacingMs: 5_000 };
  await states.put({ endpointId, tenantId: "acme", gate: { ...newGate, failures: 5, open } });
  const announced = Promise.withResolvers<void>();
  const gates = new StoredGates({ states, announceClosed: () => announced.promise, log });
  const queues = new EndpointQueues({ shared, states, gates, isPreferredFor: () => isPreferred });
  const queue = queues.of({ tenantId: "acme", endpointId });
  await gates.refresh(queue);
  expect(queue.gate.open).toEqual(open);
  queue.adopt(newGate);
  const kept = gates.keep(queue, open.since);
  await meanwhile(queues, queue);
  announced.resolve();
  await kept;
  expect(await states.findMany([endpointId])).toEqual([]);
  expect(queue.gate).toEqual(newGate);
  queues.forgetIdle(queue);
  expect(queues.find(endpointId)).toBeUndefined();
});

it("of two gates that are put for the same generation, only the first is stored", async () => {
  const endpointId = randomUUID();
  const put = (failures: number, generation?: string) =>
    states.put({ endpointId, tenantId: "acme", gate: { ...newGate, failures }, generation });
  const first = await put(1);
  expect(await put(2)).toBeUndefined();
  const second = await put(3, first);
  expect(await put(4, first)).toBeUndefined();
  expect(await states.findMany([endpointId])).toMatchObject([{ gate: { failures: 3 }, generation: second }]);
});

it("while an endpoint's gate cannot be read, nothing is sent to the endpoint", async () => {
  const { queue } = openProcess("unread");
  const reading = { findMany: () => Promise.reject(new Error("MongoDB does not answer")) };
  const unread = { ...reading, put: () => Promise.reject(new Error()), delete: () => Promise.reject(new Error()) };
  const gates = new StoredGates({ states: unread, announceClosed: async () => {}, log });
  await expect(gates.refresh(queue)).rejects.toThrow("MongoDB does not answer");
  queue.push(laneOf("unread", "d"));
  expect([queue.isGateKnown, queue.capacity(Date.now()), queue.start(1, Date.now()).lanes]).toEqual([false, 0, []]);
});
