import { expect, test } from "vitest";
import { LocalLimit } from "./local-limit.ts";

test("when a window allows three uses of a key, the fourth is refused until the window ends", () => {
  let now = 0;
  const limit = new LocalLimit({ count: 3, windowMs: 1_000 }, () => now);
  expect([1, 2, 3, 4].map(() => limit.take("a").allowed)).toEqual([true, true, true, false]);
  now = 999;
  expect(limit.take("a")).toEqual({ allowed: false, remaining: 0, resetMs: 1 });
  now = 1_000;
  expect(limit.take("a")).toEqual({ allowed: true, remaining: 2, resetMs: 1_000 });
});

test("keys are counted apart", () => {
  const limit = new LocalLimit({ count: 1, windowMs: 1_000 }, () => 0);
  expect(["a", "b", "a"].map((key) => limit.take(key).allowed)).toEqual([true, true, false]);
});

test("a flood of 100,000 keys makes a limit forget the oldest key, but not the newest", () => {
  const limit = new LocalLimit({ count: 1, windowMs: 1_000 }, () => 0);
  limit.take("first");
  for (let key = 0; key < 100_000; key += 1) limit.take(String(key));
  expect(limit.take("first").allowed).toBe(true);
  expect(limit.take("99999").allowed).toBe(false);
});
