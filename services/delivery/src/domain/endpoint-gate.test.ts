import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  abandonProbe,
  type Admission,
  admit,
  type GateAnswer,
  type GateLimits,
  type GateState,
  isBlank,
  newGate,
  probeAt,
  settle,
  start,
  wantProbe,
} from "./endpoint-gate.ts";

const limits: GateLimits = { maxInFlight: 32 };
const flying = (attempts: number, isProbing = false) => ({ attempts, isProbing });
const middle = 0.5;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const failed: GateAnswer = { lane: "a", result: "failed", probe: false };
const accepted: GateAnswer = { lane: "a", result: "accepted", probe: false };

function refused(lane: string): GateAnswer {
  return { lane, result: "refused", probe: false };
}

function after(state: GateState, answers: readonly GateAnswer[], now = 0): GateState {
  return answers.reduce((before, answer) => settle(before, limits, answer, now, middle).state, state);
}

function repeated(answer: GateAnswer, times: number): GateAnswer[] {
  return Array.from({ length: times }, () => answer);
}

const opened = after(newGate, repeated(failed, 5));

/** Lets the next probe fail. @returns the state after the failure, and when the probe started */
function probeFails(state: GateState, now: number): { state: GateState; at: number } {
  const admission = admit(state, limits, flying(0), now);
  const at = admission.kind === "none" && admission.until !== undefined ? admission.until : now;
  const probing = start(state, limits, 1, at);
  return { state: settle(probing, limits, { ...failed, probe: true }, at, middle).state, at };
}

describe("the breaker", () => {
  it("opens with the fifth failure in a row", () => {
    expect(admit(after(newGate, repeated(failed, 4)), limits, flying(0), 0)).toEqual({ kind: "attempts", count: 32 });
    expect(settle(after(newGate, repeated(failed, 4)), limits, failed, 0, middle).event).toBe("opened");
    expect(admit(opened, limits, flying(0), 0)).toEqual({ kind: "none", until: 5 * secondMs });
  });

  it("may be forgotten only when no attempt has failed or been refused since the last accepted one", () => {
    expect(
      [newGate, after(newGate, [failed]), after(newGate, [refused("a")])].map((state) => isBlank(state, 0)),
    ).toEqual([true, false, false]);
    expect(isBlank(after(newGate, [failed, accepted]), 0)).toBe(true);
  });

  it("probes at once on request, but not beside another probe, nor before a Retry-After ends", () => {
    expect(admit(wantProbe(opened, 10), limits, flying(0), 10)).toEqual({ kind: "probe" });
    expect(admit(wantProbe(opened, 10), limits, flying(1, true), 10)).toEqual({ kind: "none" });
    const paused = after(opened, [{ ...failed, retryAfterMs: minuteMs }]);
    expect(admit(wantProbe(paused, 10), limits, flying(0), 10)).toEqual({ kind: "none", until: minuteMs });
    expect(wantProbe(newGate, 0)).toBe(newGate);
  });

  it("says when its next probe is due, not before a Retry-After ends; nothing while a probe is in flight", () => {
    expect([probeAt(newGate, flying(0)), probeAt(opened, flying(0))]).toEqual([undefined, 5 * secondMs]);
    expect(probeAt(opened, flying(1, true))).toBeUndefined();
    expect(probeAt(after(opened, [{ ...failed, retryAfterMs: minuteMs }]), flying(0))).toBe(minuteMs);
  });

  it("starts counting anew after an accepted attempt", () => {
    const state = after(newGate, [...repeated(failed, 4), accepted, ...repeated(failed, 4)]);
    expect(admit(state, limits, flying(0), 0).kind).toBe("attempts");
  });

  it("is opened by refusals only when they are of three documents, not by a hundred refusals of two", () => {
    const two = after(newGate, [...repeated(refused("a"), 50), ...repeated(refused("b"), 50)]);
    expect(admit(two, limits, flying(0), 0).kind).toBe("attempts");
    expect(settle(two, limits, refused("c"), 0, middle).event).toBe("opened");
  });

  it("probes 5, 10, 20, 40, 60 s apart, and after a quarter of an hour up to five minutes apart", () => {
    const times = [0];
    let state = opened;
    for (let probe = 0; probe < 23; probe += 1) {
      const next = probeFails(state, times.at(-1) ?? 0);
      state = next.state;
      times.push(next.at);
    }
    const apart = times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / secondMs);
    expect(apart.slice(0, 6)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(times[apart.indexOf(120)]).toBe(915 * secondMs);
    expect(apart.slice(-4)).toEqual([240, 300, 300, 300]);
  });

  it("lets one probe out at a time", () => {
    const due = 5 * secondMs;
    expect(admit(opened, limits, flying(0), due)).toEqual({ kind: "probe" });
    const probing = start(opened, limits, 1, due);
    expect(admit(probing, limits, flying(1, true), due)).toEqual({ kind: "none" });
    const again = settle(probing, limits, { ...failed, probe: true }, due, middle).state;
    expect(admit(again, limits, flying(0), due + 10 * secondMs)).toEqual({ kind: "probe" });
  });

  it("keeps the time of its next probe when attempts fail that were in flight as it opened", () => {
    expect(admit(after(opened, repeated(failed, 27), 2_000), limits, flying(0), 2_000)).toEqual({
      kind: "none",
      until: 5_000,
    });
  });

  it("probes again 5 s after a probe that could not be made", () => {
    const state = abandonProbe(start(opened, limits, 1, 5_000), 5_000);
    expect(admit(state, limits, flying(0), 5_000)).toEqual({ kind: "none", until: 10_000 });
  });

  it("gives a recovered endpoint one attempt, then two, four, eight, and so on up to its limit", () => {
    const change = settle(start(opened, limits, 1, 5_000), limits, { ...accepted, probe: true }, 5_000, middle);
    expect(change.event).toBe("recovered");
    const rounds: number[] = [];
    let { state } = change;
    for (let round = 0; round < 7; round += 1) {
      const admission = admit(state, limits, flying(0), 6_000);
      const count = admission.kind === "attempts" ? admission.count : 0;
      rounds.push(count);
      state = after(state, repeated(accepted, count));
    }
    expect(rounds).toEqual([1, 2, 4, 8, 16, 32, 32]);
  });

  it("halves the limit of a recovering endpoint when an attempt fails", () => {
    const ramping = after(opened, [{ ...accepted, probe: true }, ...repeated(accepted, 7)]);
    expect(admit(ramping, limits, flying(0), 0)).toEqual({ kind: "attempts", count: 8 });
    expect(admit(after(ramping, [failed]), limits, flying(0), 0)).toEqual({ kind: "attempts", count: 4 });
  });
});

describe("an endpoint's limits", () => {
  it("count the attempts in flight", () => {
    expect(admit(newGate, limits, flying(30), 0)).toEqual({ kind: "attempts", count: 2 });
    expect(admit(newGate, limits, flying(32), 0)).toEqual({ kind: "none" });
  });

  it("admit the attempts of one second at once, and then no more than the rate", () => {
    const slow = { maxInFlight: 32, ratePerSecond: 4 };
    expect(admit(newGate, slow, flying(0), 0)).toEqual({ kind: "attempts", count: 4 });
    const drawn = start(newGate, slow, 4, 0);
    expect(admit(drawn, slow, flying(0), 0)).toEqual({ kind: "none", until: 250 });
    expect(admit(drawn, slow, flying(0), 250)).toEqual({ kind: "attempts", count: 1 });
    expect(admit(drawn, slow, flying(0), minuteMs)).toEqual({ kind: "attempts", count: 4 });
  });

  it("admit one attempt in four seconds at a rate of 0.25 a second", () => {
    const slow = { maxInFlight: 32, ratePerSecond: 0.25 };
    expect(admit(newGate, slow, flying(0), 0)).toEqual({ kind: "attempts", count: 1 });
    const drawn = start(newGate, slow, 1, 0);
    expect(admit(drawn, slow, flying(0), 0)).toEqual({ kind: "none", until: 4 * secondMs });
    expect(admit(drawn, slow, flying(0), 4 * secondMs)).toEqual({ kind: "attempts", count: 1 });
  });

  it("keep to a Retry-After of up to a day, despite an accepted attempt or an open breaker", () => {
    const asked = settle(newGate, limits, { ...failed, retryAfterMs: 3_600 * secondMs }, 0, middle).state;
    expect(admit(after(asked, [accepted]), limits, flying(0), 1)).toEqual({ kind: "none", until: 3_600 * secondMs });
    expect(admit(after(asked, repeated(failed, 5)), limits, flying(0), minuteMs)).toEqual({
      kind: "none",
      until: 3_600 * secondMs,
    });
    const long = settle(newGate, limits, { ...failed, retryAfterMs: 7 * 86_400 * secondMs }, 0, middle).state;
    expect(admit(long, limits, flying(0), 1)).toEqual({ kind: "none", until: 86_400 * secondMs });
    expect(admit(long, limits, flying(0), 86_400 * secondMs).kind).toBe("attempts");
  });
});

describe("410", () => {
  const gone: GateAnswer = { lane: "a", result: "gone", probe: false };

  it("shows that an endpoint is gone when it comes again after a minute", () => {
    const once = settle(newGate, limits, gone, 0, middle);
    expect(once.event).toBeUndefined();
    expect(settle(once.state, limits, gone, minuteMs - 1, middle).event).toBeUndefined();
    expect(settle(once.state, limits, gone, minuteMs, middle).event).toBe("gone");
  });

  it("shows that an endpoint is gone a minute after the first 410, unless an attempt was accepted since", () => {
    const twice = after(after(newGate, [gone]), [gone], 30_000);
    expect(settle(twice, limits, gone, minuteMs, middle).event).toBe("gone");
    expect(settle(after(twice, [accepted], 40_000), limits, gone, minuteMs, middle).event).toBeUndefined();
  });
});

describe("the gate, after random answers without a Retry-After,", () => {
  const answer = fc.record({
    lane: fc.constantFrom("a", "b", "c", "d"),
    result: fc.constantFrom<GateAnswer["result"]>("accepted", "refused", "failed", "gone"),
    afterMs: fc.integer({ min: 0, max: 400_000 }),
  });

  /** What the gate admitted while nothing was in flight, and the state after the answers. */
  const stories = fc.tuple(fc.array(answer, { maxLength: 60 }), fc.integer({ min: 1, max: 40 })).map(tell);

  function tell([answers, maxInFlight]: [{ lane: string; result: GateAnswer["result"]; afterMs: number }[], number]) {
    const own = { maxInFlight };
    const admitted: Admission[] = [];
    let state = newGate;
    let now = 0;
    for (const { lane, result, afterMs } of answers) {
      now += afterMs;
      const admission = admit(state, own, flying(0), now);
      admitted.push(admission);
      if (admission.kind === "none") continue;
      state = start(state, own, 1, now);
      state = settle(state, own, { lane, result, probe: admission.kind === "probe" }, now, middle).state;
    }
    return { own, admitted, state, now };
  }

  it("admits at most `maxInFlight` attempts while none is in flight", () => {
    fc.assert(
      fc.property(stories, ({ own, admitted }) => {
        for (const each of admitted) {
          if (each.kind === "attempts") expect(each.count).toBeLessThanOrEqual(own.maxInFlight);
        }
      }),
    );
  });

  it("admits an attempt within six minutes", () => {
    fc.assert(
      fc.property(stories, ({ own, state, now }) => {
        const admission = admit(state, own, flying(0), now);
        if (admission.kind === "none") expect((admission.until ?? now) - now).toBeLessThanOrEqual(360_000);
        expect(admit(state, own, flying(0), now + 360_000).kind).not.toBe("none");
      }),
    );
  });
});
