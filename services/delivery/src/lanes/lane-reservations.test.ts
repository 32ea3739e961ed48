import { expect, it, vi } from "vitest";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import { toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import { AnswerTimes } from "./answer-times.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import { BodyBudget } from "./body-budget.ts";
import { EndpointQueue } from "./endpoint-queue.ts";
import { LaneReservations } from "./lane-reservations.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const settings = { url: "https://e1.example/", secrets: [Buffer.alloc(32)] as const, headers: {}, enabled: true };
const limits: Endpoint = { ...names, ...settings, createdAt: new Date(), events: eventsByDefault, maxInFlight: 1 };

const bodies = new BodyBudget(64 * 1024 * 1024);

/** A queue of an endpoint whose last answer took `answerMs`. */
function queueOf(answerMs: number): EndpointQueue {
  const answerTimes = new AnswerTimes();
  answerTimes.note("e1", answerMs);
  const queue = new EndpointQueue(names, { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes, bodies });
  queue.adopt(newGate);
  queue.applySettings(limits, Date.now());
  return queue;
}

/** The queue of an endpoint that takes 500 lanes a second, with `waiting` lanes in it. */
function quickQueue(waiting: number): EndpointQueue {
  const queue = queueOf(2);
  for (let n = 0; n < waiting; n++) queue.push(laneOf(n));
  return queue;
}

function laneOf(n: number) {
  const ids = {
    ...names,
    documentId: `d${n}`,
    deliveryId: `${n}`,
    webhookId: `snp_${n}`,
    sequence: 1,
    bodyBytes: 2_000,
  };
  const row = toNewSendable({ ...ids, signingNumber: 1, createdAt: new Date(), standing: "leased" });
  const leaseUntil = new Date(Date.now() + 20_000);
  return toLeasedLane({ _id: row.deliveryId, generation: 1 }, wholeLane([row]), { leaseUntil, dueAt: new Date() });
}

it("frees the capacity of a reservation once, however often it is disposed", async () => {
  const reservations = new LaneReservations(bodies);
  const lanes = quickQueue(300);
  using first = await reservations.reserve([{ queue: lanes, count: 150 }], true);
  expect([first.of("e1"), lanes.capacity(Date.now())]).toEqual([150, 50]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(lanes.capacity(Date.now())).toBe(200);
});

it("lets batches wait for capacity at a quick endpoint, first come, first served", async () => {
  const reservations = new LaneReservations(bodies);
  const lanes = quickQueue(500);
  const granted: string[] = [];
  const reserve = async (name: string) => {
    const { of } = await reservations.reserve([{ queue: lanes, count: 100 }], true);
    granted.push(`${name} ${of("e1")}`);
  };
  const both = [reserve("first"), reserve("second")];
  const start = (count: number) => {
    for (let n = 0; n < count; n++) {
      const [lane] = lanes.start(1, Date.now()).lanes;
      lanes.noteNotMade(false, Date.now());
      lanes.release(lane!);
    }
    reservations.noteCapacity();
    return new Promise((resolve) => setImmediate(resolve));
  };
  await start(99);
  expect(granted).toEqual([]);
  await start(1);
  expect(granted).toEqual(["first 100"]);
  await start(100);
  await Promise.all(both);
  expect(granted).toEqual(["first 100", "second 100"]);
});

function pausedQueue(): EndpointQueue {
  const queue = quickQueue(0);
  queue.adopt({ ...newGate, pausedUntil: Date.now() + 60_000 });
  return queue;
}

it.each([
  ["slow", () => queueOf(2_000), 2],
  ["paused", pausedQueue, 0],
] as const)("a batch does not wait for a %s endpoint", async (_title, openQueue, granted) => {
  // The clock stands still, so a batch that waited here would wait for ever.
  vi.useFakeTimers();
  const reservations = new LaneReservations(bodies);
  const reservation = await reservations.reserve([{ queue: openQueue(), count: 100 }], true);
  expect(reservation.of("e1")).toBe(granted);
  vi.useRealTimers();
});

it("a batch waits at most 0.5 s for a quick endpoint", async () => {
  vi.useFakeTimers();
  const reservations = new LaneReservations(bodies);
  const stuck = reservations.reserve([{ queue: quickQueue(450), count: 100 }], true);
  vi.advanceTimersByTime(500);
  expect((await stuck).of("e1")).toBe(50);
  vi.useRealTimers();
});

it("a batch stops waiting for an endpoint that has not answered for 200 ms", async () => {
  vi.useFakeTimers();
  const reservations = new LaneReservations(bodies);
  const hanging = quickQueue(480);
  hanging.start(1, Date.now());
  let granted: number | undefined;
  const reserving = reservations.reserve([{ queue: hanging, count: 100 }], true).then(({ of }) => (granted = of("e1")));
  await vi.advanceTimersByTimeAsync(199);
  expect(granted).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(granted).toBe(20);
  await reserving;
  vi.useRealTimers();
});
