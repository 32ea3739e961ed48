import { describe, expect, it } from "vitest";
import { verdictOf } from "./delivery.ts";
import { advance, arrive, type LaneAttempt, type LaneRow, type LaneState, subjectOf } from "./advance-lane.ts";

const now = new Date("2026-11-22T09:00:00.000Z");
const later = (ms: number) => new Date(now.getTime() + ms);
const plan = { delaysMs: [5_000, 30_000], ageMsMax: 3_600_000 };

const row = (sequence: number, more: Partial<LaneRow> = {}): LaneRow => {
  return {
    deliveryId: `d${sequence}`,
    sequence,
    signingNumber: 1,
    createdAt: now,
    retryCount: 0,
    isRefused: false,
    ...more,
  };
};

function laneOf(rows: readonly LaneRow[], more: Partial<LaneState<LaneRow>> = {}): LaneState<LaneRow> {
  const whole = { contiguous: rows.length, hasMore: false, isTailNext: true, isTailEnd: true };
  return { rows, ...whole, isUncertain: false, dueAt: now, isExpedited: false, ...more };
}

function after(lane: LaneState<LaneRow>, verdict: LaneAttempt["verdict"], more: Partial<LaneAttempt> = {}) {
  const step = advance(lane, { verdict, endedAt: now, isProbe: false, ...more }, plan, 0.5);
  const ended = step.ended.map(({ row: { sequence }, state }) => `${sequence} ${state}`);
  return { ...step, ended, subject: subjectOf(step.lane)?.sequence };
}

describe("a lane whose oldest row is", () => {
  it("accepted goes on with the next one at once", () => {
    expect(after(laneOf([row(1), row(2)]), "accepted")).toMatchObject({
      ended: ["1 delivered"],
      subject: 2,
      next: "attempt",
    });
    expect(after(laneOf([row(1)]), "accepted")).toMatchObject({ ended: ["1 delivered"], next: "empty" });
  });

  it("refused yields to the next row that was never refused", () => {
    const lane = laneOf([row(1), row(2, { isRefused: true }), row(3), row(4)]);
    expect(after(lane, "refused")).toMatchObject({ ended: [], subject: 3, next: "attempt", lane: { yieldedTo: "d3" } });
  });

  it("refused yields to the newest row when all were refused", () => {
    const lane = laneOf([row(1), row(2, { isRefused: true }), row(3, { isRefused: true })]);
    expect(after(lane, "refused")).toMatchObject({ subject: 3, next: "attempt" });
  });

  it("neither accepted nor refused keeps the others waiting until its backoff ends", () => {
    const step = after(laneOf([row(1), row(2)]), "failed");
    expect(step).toMatchObject({ ended: [], subject: 1, next: "wait", lane: { dueAt: later(5_000) } });
  });

  it("too old to be tried again gives that row up, and the next row is due", () => {
    const lane = laneOf([row(1, { createdAt: later(-3_600_000) }), row(2)]);
    expect(after(lane, "failed")).toMatchObject({
      ended: ["1 exhausted"],
      subject: 2,
      next: "wait",
      lane: { dueAt: now },
    });
  });
});

describe("a lane whose oldest row yielded to a newer one", () => {
  const lane = laneOf([row(1, { isRefused: true }), row(2)], { yieldedTo: "d2" });

  it("supersedes the oldest row when the newer one is accepted", () => {
    expect(after(lane, "accepted")).toMatchObject({ ended: ["1 superseded", "2 delivered"], next: "empty" });
  });

  it("returns to the oldest row when the newer one is refused, too", () => {
    expect(after(lane, "refused")).toMatchObject({ ended: [], subject: 1, next: "wait" });
  });

  it("stays at the newer row while the receiver may have it", () => {
    const step = after(lane, "failed");
    expect(step).toMatchObject({ subject: 2, next: "wait" });
    expect(after(step.lane, "refused")).toMatchObject({ ended: [], subject: 2, next: "wait" });
  });

  it("keeps the newer row's refusal when the oldest is given up and rows between are not in memory", () => {
    const rows = [row(1, { isRefused: true, createdAt: later(-3_600_000) }), row(9)];
    const long = laneOf(rows, { yieldedTo: "d9", contiguous: 1, hasMore: true });
    const { ended, changed, next } = after(long, "refused");
    expect([ended, next]).toEqual([["1 exhausted"], "unknown"]);
    expect(changed).toEqual([row(9, { isRefused: true })]);
  });
});

describe("an arrival", () => {
  const waiting = laneOf([row(1, { retryCount: 1 })], { dueAt: later(60_000) });

  it("makes a waiting lane due", () => {
    expect(arrive(waiting, [row(2)], now)).toMatchObject({ dueAt: now, isExpedited: true });
  });

  it("costs a waiting lane no step of its backoff", () => {
    const { lane: failed } = after(arrive(waiting, [row(2)], now), "failed");
    expect([failed.rows[0]?.retryCount, failed.dueAt]).toEqual([1, later(5_000)]);
  });

  it("of a row that is in the lane already changes nothing", () => {
    const lane = laneOf([row(1)]);
    expect(arrive(lane, [row(1)], now)).toBe(lane);
  });
});

describe("a probe", () => {
  it("costs no step of the backoff", () => {
    const { lane } = after(laneOf([row(1, { retryCount: 1 })]), "failed", { isProbe: true });
    expect(lane.rows[0]?.retryCount).toBe(1);
  });

  it("gives up no row that has time left, though an attempt would", () => {
    const old = (ms: number) => laneOf([row(1, { retryCount: 2, createdAt: later(-ms) })]);
    expect(after(old(3_590_000), "failed").ended).toEqual(["1 exhausted"]);
    const step = after(old(3_590_000), "failed", { isProbe: true });
    expect(step).toMatchObject({ ended: [], next: "wait", lane: { dueAt: later(10_000) } });
    expect(after(old(3_600_000), "failed", { isProbe: true }).ended).toEqual(["1 exhausted"]);
  });
});

describe("an answer", () => {
  it.each([
    [200, "accepted"],
    [299, "accepted"],
    [301, "refused"],
    [400, "refused"],
    [408, "failed"],
    [410, "refused"],
    [429, "failed"],
    [500, "refused"],
    [502, "failed"],
    [503, "failed"],
    [504, "failed"],
  ])("%s means %s", (status, verdict) => {
    expect(verdictOf({ status })).toBe(verdict);
  });

  it("that does not come means failed", () => {
    expect(verdictOf({})).toBe("failed");
  });
});
