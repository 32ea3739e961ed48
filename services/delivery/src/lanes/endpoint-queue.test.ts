import { expect, it } from "vitest";
import { toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import { AnswerTimes } from "./answer-times.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import { BodyBudget } from "./body-budget.ts";
import { EndpointQueue } from "./endpoint-queue.ts";

const now = Date.now();
const names = { tenantId: "acme", endpointId: "e1" };

function rowOf(documentId: string, sequence: number) {
  const ids = {
    ...names,
    documentId,
    deliveryId: `${documentId}-${sequence}`,
    webhookId: `snp_${sequence}`,
    sequence,
    bodyBytes: 2_000,
  };
  return toNewSendable({ ...ids, signingNumber: 1, createdAt: new Date(now), standing: "behind" });
}

function laneOf(documentId: string, leaseMs = 20_000) {
  const row = rowOf(documentId, 1);
  const times = { leaseUntil: new Date(now + leaseMs), dueAt: new Date(now) };
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, wholeLane([row]), times);
}

const answered = { startedAt: new Date(now), status: 204 };

function open(bytesMax = 64 * 1024 * 1024) {
  const bodies = new BodyBudget(bytesMax);
  const shared = { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes: new AnswerTimes(), bodies };
  const queue = new EndpointQueue(names, shared);
  queue.adopt(newGate);
  queue.applySettings({ maxInFlight: 4 }, now);
  return queue;
}

/** Makes one attempt, which takes `tookMs`. */
function answer(queue: EndpointQueue, tookMs: number): void {
  queue.push(laneOf("answered"));
  const [lane] = queue.start(1, now).lanes;
  queue.noteAnswer({ ...names, documentId: "answered" }, { ...answered, tookMs }, false, now);
  queue.release(lane!);
}

it("when the endpoint becomes slower, the newest lanes, which would wait too long, are taken out", () => {
  const lanes = open();
  answer(lanes, 10);
  for (let n = 0; n < 401; n++) lanes.push(laneOf(`d${n}`));
  expect([lanes.capacity(now), lanes.takeSurplus(now)]).toEqual([0, []]);
  const [first] = lanes.start(1, now).lanes;
  for (let n = 0; n < 40; n++)
    lanes.noteAnswer({ ...names, documentId: "d0" }, { ...answered, tookMs: 1_000 }, false, now);
  lanes.release(first!);
  const surplus = lanes.takeSurplus(now);
  expect([surplus.length, lanes.readyCount]).toEqual([392, 8]);
  expect(surplus[0]!.bearer.deliveryId).toBe("d9-1");
  expect(lanes.has({ ...names, documentId: "d9" })).toBe(false);
});

it("a lane that is claimed again keeps its position in the queue", () => {
  const lanes = open();
  const [waiting, claimed] = [laneOf("a"), laneOf("a")];
  lanes.push(waiting);
  lanes.push(laneOf("b"));
  lanes.push(claimed);
  expect(lanes.readyCount).toBe(2);
  expect(lanes.start(1, now)).toEqual({ lanes: [claimed], isProbe: false });
});

it("a lane that is claimed again is not queued while its attempt is in flight", () => {
  const lanes = open();
  lanes.push(laneOf("a"));
  const [started] = lanes.start(1, now).lanes;
  lanes.push(laneOf("a"));
  expect(lanes.readyCount).toBe(0);
  lanes.release(started!);
  lanes.push(laneOf("a"));
  expect(lanes.readyCount).toBe(1);
});

it("a queue starts no lane and has no capacity before its endpoint's gate is known", () => {
  const shared = {
    aheadMs: 1_000,
    bodyBytes: () => 2_000,
    answerTimes: new AnswerTimes(),
    bodies: new BodyBudget(1e6),
  };
  const queue = new EndpointQueue(names, shared);
  queue.push(laneOf("a"));
  expect([queue.capacity(now), queue.startable(now), queue.start(1, now).lanes]).toEqual([0, 0, []]);
  queue.adopt(newGate);
  expect(queue.start(1, now).lanes).toHaveLength(1);
});

it("a queue wants more of the lanes that are due, but none while its endpoint is shut", () => {
  const queue = open();
  queue.noteMoreDue();
  expect(queue.wantsMore(now)).toBe(true);
  queue.adopt({ ...newGate, pausedUntil: now + 1_000 });
  expect(queue.wantsMore(now)).toBe(false);
  queue.adopt({ ...newGate, open: { since: now, nextProbeAt: now + 5_000, spacingMs: 5_000 } });
  expect(queue.wantsMore(now)).toBe(false);
});

it("a queue takes no lane whose body does not fit until another lane is released", () => {
  const queue = open(8_000);
  const [a, b, c] = [laneOf("a"), laneOf("b"), laneOf("c")];
  expect([queue.push(a), queue.push(b), queue.push(c)]).toEqual([true, true, false]);
  queue.start(1, now);
  queue.release(a);
  expect(queue.push(c)).toBe(true);
});

it("the next probe is due at once when its endpoint was enabled after the breaker had opened", () => {
  const queue = open();
  const since = now - 60_000;
  queue.adopt({ ...newGate, failures: 5, open: { since, nextProbeAt: now + 240_000, spacingMs: 300_000 } });
  queue.applySettings({ maxInFlight: 4, enabledAt: new Date(since - 1) }, now);
  expect(queue.probeAt()).toBe(now + 240_000);
  queue.applySettings({ maxInFlight: 4, enabledAt: new Date(now) }, now);
  expect(queue.probeAt()).toBe(now);
});

it("a probe that has just become due is left to the preferred replica, an overdue one is not", () => {
  const openAt = (nextProbeAt: number) => {
    const queue = open();
    queue.adopt({ ...newGate, open: { since: now - 60_000, nextProbeAt, spacingMs: 5_000 } });
    return queue;
  };
  const foreign = new Date(now - 5_000);
  expect(openAt(now - 1).beginClaim(foreign, now)).toBeUndefined();
  expect(openAt(now - 1).beginClaim(new Date(now), now)).toEqual({ limit: 1 });
  expect(openAt(now - 5_000).beginClaim(foreign, now)).toEqual({ limit: 1 });
});

it.each([
  ["counts as the first when the endpoint was enabled between the two", -1, undefined],
  ["shows that the endpoint is gone when it was not enabled between the two", 1, "gone"],
])("a second 410 %s", (_, offset, event) => {
  const queue = open();
  const goneAt = now - 300_000;
  queue.applySettings({ maxInFlight: 4, enabledAt: new Date(goneAt - offset) }, now);
  queue.adopt({ ...newGate, goneAt });
  queue.push(laneOf("gone"));
  queue.start(1, now);
  const outcome = { startedAt: new Date(now), status: 410, tookMs: 1 };
  expect(queue.noteAnswer({ ...names, documentId: "gone" }, outcome, false, now)).toBe(event);
  expect(queue.gate.goneAt).toBe(event === "gone" ? goneAt : now);
});
