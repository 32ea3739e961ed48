import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AttemptOutcome } from "../domain/delivery.ts";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import { promisedRetries } from "../domain/retry-plan.ts";
import { toLeasedLane, toNewSendable, wholeLane } from "../store/delivery-rows.ts";
import type { LaneRecord } from "../store/lane-records.ts";
import { type AttemptDeps, journalAttempt, prepareAttempt } from "./attempt-lane.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const settings = { url: "https://e1.example/", secrets: [Buffer.alloc(32)] as const, headers: {}, enabled: true };
const leaseMs = 20_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** A lane of `count` rows whose lease ends in `leftMs`. */
function laneOf(leftMs: number, count = 1) {
  const rows = Array.from({ length: count }, (_, n) => {
    const ids = {
      ...names,
      documentId: "d",
      deliveryId: `${n + 1}`,
      webhookId: "snp",
      signingNumber: 1,
      bodyBytes: 2_000,
    };
    return toNewSendable(Object.assign(ids, { sequence: n + 1, createdAt: new Date(), standing: "leased" as const }));
  });
  const times = { leaseUntil: new Date(Date.now() + leftMs), dueAt: new Date() };
  return toLeasedLane({ _id: "1", generation: 1 }, wholeLane(rows), times);
}

/** What an attempt needs. The first `timeouts` records fail, each after eight seconds. */
function openDeps(timeouts: number) {
  const endpoint: Endpoint = { ...names, ...settings, createdAt: new Date(), events: eventsByDefault, maxInFlight: 1 };
  const payload = { webhookId: "snp", signingNumber: 1, event: "snapshot.usable", keyId: "k" };
  const body = Buffer.from("{}");
  const records: LaneRecord[] = [];
  const nothing = async () => {};
  let left = timeouts;
  const deps: AttemptDeps = {
    directory: { find: async () => endpoint, findNow: async () => endpoint },
    payloads: { get: async () => ({ ...payload, committedAt: new Date(), body }) },
    lanes: { renew: async () => true, loadArrivals: async (lane) => lane, appointBearers: nothing, expedite: nothing },
    journal: { noteAccepted: async () => false },
    resentRows: { endOutrun: async () => [] },
    record: async (record) => {
      if (left === 0) {
        records.push(record);
        return { kind: "done" };
      }
      left -= 1;
      vi.setSystemTime(Date.now() + 8_000);
      throw new Error("MongoDB does not answer");
    },
    post: () => Promise.reject(new Error("nothing is posted")),
    retries: promisedRetries,
    attemptMs: 15_000,
    leaseMs,
    log: pino({ level: "silent" }),
  };
  return { deps, records };
}

/**
 * Journals an accepted attempt at a lane whose lease `prepareAttempt` renews, because it would end
 * in a second.
 */
async function journal(timeouts: number) {
  const { deps, records } = openDeps(timeouts);
  const prepared = await prepareAttempt(deps, laneOf(1_000));
  if (prepared.kind !== "ready") throw new Error(`the attempt is ${prepared.kind}`);
  const outcome: AttemptOutcome = { startedAt: new Date(), tookMs: 5, status: 204 };
  const { isLost } = await journalAttempt(deps, prepared, outcome, { isProbe: false, mayGoOn: () => true });
  return { isLost, records: records.length };
}

it("repeats the journaling of an accepted webhook beyond the first lease, while the renewed one lasts", async () => {
  expect(await journal(2)).toEqual({ isLost: false, records: 1 });
});

it("prepares no attempt at an endpoint that was disabled while the body was made", async () => {
  const { deps } = openDeps(0);
  const endpoint = (await deps.directory.find("e1"))!;
  let enabled = true;
  const payloads: AttemptDeps["payloads"] = {
    get: async (row, next) => {
      const made = await deps.payloads.get(row, next);
      enabled = false;
      return made;
    },
  };
  const directory = { ...deps.directory, find: async () => ({ ...endpoint, enabled }) };
  expect(await prepareAttempt({ ...deps, payloads, directory }, laneOf(1_000))).toEqual({ kind: "disabled" });
});

it("gives a lane up as lost when its attempt is not journaled before the lease ends", async () => {
  expect(await journal(3)).toEqual({ isLost: true, records: 0 });
});

const hourMs = 3_600_000;

/**
 * Journals a 503 for a row that is nearly 72 hours old. During the attempt its endpoint gets the
 * fields of `since`.
 */
async function journalOldRow(since: Partial<Endpoint>) {
  const { deps, records } = openDeps(0);
  const expedited: unknown[] = [];
  const before = await deps.directory.find("e1");
  if (!before) throw new Error("there is no endpoint");
  let reads = 0;
  const directory = { find: async () => before, findNow: async () => ((reads += 1), { ...before, ...since }) };
  const lanes = { ...deps.lanes, expedite: async (rows: readonly unknown[]) => void expedited.push(...rows) };
  const lane = laneOf(leaseMs);
  vi.setSystemTime(Date.now() + 71.9 * hourMs);
  const held = { ...lane, leaseUntil: new Date(Date.now() + leaseMs) };
  const prepared = await prepareAttempt({ ...deps, directory, lanes }, held);
  if (prepared.kind !== "ready") throw new Error(`the attempt is ${prepared.kind}`);
  const rows = prepared.lane.state.rows.map((row) => ({ ...row, retryCount: 7 }));
  const ready = { ...prepared, lane: { ...prepared.lane, state: { ...prepared.lane.state, rows } } };
  const outcome: AttemptOutcome = { startedAt: new Date(), tookMs: 5, status: 503 };
  const { step } = await journalAttempt({ ...deps, directory, lanes }, ready, outcome, {
    isProbe: false,
    mayGoOn: () => true,
  });
  const [record] = records;
  const isDue = step.lane.dueAt.getTime() <= Date.now() + outcome.tookMs;
  return { ended: record?.step.ended.map(({ state }) => state), expedited: expedited.length, isDue, reads };
}

it("keeps a row nearly 72 hours old, due at once, when its endpoint was enabled during the attempt", async () => {
  const enabledAt = new Date(Date.now() + 71.9 * hourMs);
  expect(await journalOldRow({ enabledAt })).toMatchObject({ ended: [], expedited: 1, isDue: true });
});

it("keeps a row nearly 72 hours old, in backoff, when its endpoint was disabled during the attempt", async () => {
  expect(await journalOldRow({ enabled: false })).toMatchObject({ ended: [], expedited: 0, isDue: false });
});

it("gives up a row nearly 72 hours old when a second read shows its endpoint unchanged", async () => {
  expect(await journalOldRow({})).toMatchObject({ ended: ["exhausted"], expedited: 0, reads: 1 });
});

it("asks for a row's body together with those of the rows behind it, not of rows that yielded to it", async () => {
  const { deps } = openDeps(0);
  const next: number[][] = [];
  const get: AttemptDeps["payloads"]["get"] = (row, others = []) => {
    next.push(others.map(({ sequence }) => sequence));
    return deps.payloads.get(row);
  };
  const lane = laneOf(leaseMs, 5);
  const yielded = { ...lane, state: { ...lane.state, yieldedTo: "3" } };
  for (const each of [lane, yielded]) await prepareAttempt({ ...deps, payloads: { get } }, each);
  expect(next).toEqual([
    [2, 3, 4, 5],
    [4, 5],
  ]);
});
