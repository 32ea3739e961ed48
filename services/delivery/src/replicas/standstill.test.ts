import { expect, test } from "vitest";
import { Standstill } from "./standstill.ts";

test("a queue stands still once its front has been the same for five seconds", () => {
  const standstill = new Standstill(5_000);
  expect(standstill.note("acme", "a", 1_000)).toBe(6_000);
  expect(standstill.note("acme", "a", 4_000)).toBe(6_000);
  expect(standstill.note("acme", "b", 5_000)).toBe(10_000);
  expect(standstill.note("rival", "a", 5_000)).toBe(10_000);
  expect(standstill.note("acme", "b", 10_000)).toBeLessThanOrEqual(10_000);
});

test("a forgotten queue stands still at the earliest five seconds after it comes back", () => {
  const standstill = new Standstill(5_000);
  standstill.note("acme", "a", 1_000);
  standstill.note("rival", "a", 2_000);
  standstill.forgetBefore(2_000);
  expect(standstill.note("acme", "a", 9_000)).toBe(14_000);
  expect(standstill.note("rival", "a", 9_000)).toBe(7_000);
});
