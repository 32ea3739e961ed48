import { expect, test } from "vitest";
import { gateHealthOf } from "./endpoint-health.ts";
import { newGate, settle } from "./endpoint-gate.ts";

const limits = { maxInFlight: 4 };
const at = (ms: number) => new Date(1_800_000_000_000 + ms);

/** The state after so many failures of one lane in the same instant. */
function after(failures: number, retryAfterMs?: number) {
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  let state = newGate;
  for (let n = 0; n < failures; n += 1) {
    state = settle(state, limits, { lane: "a", result: "failed", probe: false, ...asked }, at(0).getTime(), 0.5).state;
  }
  return state;
}

test("a gate is closed until five failures opened it, then open until the next probe is due", () => {
  expect(gateHealthOf(undefined, at(0))).toEqual({ gate: "closed" });
  expect(gateHealthOf(after(4), at(0))).toEqual({ gate: "closed" });
  const open = { openSince: at(0), nextProbeAt: at(5_000) };
  expect(gateHealthOf(after(5), at(4_999))).toEqual({ gate: "open", ...open });
  expect(gateHealthOf(after(5), at(5_000))).toEqual({ gate: "probing", ...open });
});

test("a gate is paused until a Retry-After ends", () => {
  expect(gateHealthOf(after(1, 60_000), at(59_999))).toEqual({ gate: "paused", nextProbeAt: at(60_000) });
  expect(gateHealthOf(after(1, 60_000), at(60_000))).toEqual({ gate: "closed" });
});

test("an open gate is not shown as probing before a Retry-After ends", () => {
  expect(gateHealthOf(after(5, 60_000), at(6_000))).toEqual({
    gate: "open",
    openSince: at(0),
    nextProbeAt: at(60_000),
  });
});
