import { expect, it } from "vitest";
import { MissingBodies } from "./missing-bodies.ts";

it("a lane without a body is tried again after 5 s, then after twice the last delay, up to five minutes", () => {
  const missing = new MissingBodies();
  const delays = Array.from({ length: 8 }, () => missing.note("e1", "d1", 1_000) - 1_000);
  expect(delays).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

it("a lane without a body is listed for its own endpoint until its delay of 5 s has ended", () => {
  const missing = new MissingBodies();
  missing.note("e1", "d1", 0);
  expect([missing.waitingOf("e1", 4_999), missing.waitingOf("e1", 5_000), missing.waitingOf("e2", 0)]).toEqual([
    ["d1"],
    [],
    [],
  ]);
});
