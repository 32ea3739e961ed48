import { describe, expect, it } from "vitest";
import { promisedPace } from "../config.ts";
import { nextAttemptAt, notBefore, parseRetryAfter } from "./retry-plan.ts";

const plan = promisedPace.retries;
const since = new Date("2026-11-21T09:00:00.000Z");
const middle = 0.5;
const secondMs = 1_000;
const hourMs = 3_600 * secondMs;

function waitAfter(attempt: number, random = middle, retryAfterMs?: number): number | undefined {
  const next = nextAttemptAt(plan, { attempt, since, endedAt: since, retryAfterMs }, random);
  return next && next.getTime() - since.getTime();
}

describe("the retry plan", () => {
  it("waits 5 s, 30 s, 2, 5, 15, 30 minutes, an hour, and then an hour each time", () => {
    const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((attempt) => (waitAfter(attempt) ?? 0) / secondMs);
    expect(seconds).toEqual([5, 30, 120, 300, 900, 1_800, 3_600, 3_600, 3_600]);
  });

  it("spreads a wait by a fifth to either side", () => {
    expect([waitAfter(1, 0), waitAfter(1, 1)]).toEqual([4_000, 6_000]);
  });

  it("gives up when the next attempt would come after 72 hours, and not before", () => {
    const failedAfter = (ageMs: number) =>
      nextAttemptAt(plan, { attempt: 9, since, endedAt: new Date(since.getTime() + ageMs) }, middle);
    expect(failedAfter(71 * hourMs)).toEqual(new Date(since.getTime() + 72 * hourMs));
    expect(failedAfter(71 * hourMs + 1)).toBeUndefined();
  });

  it("makes 78 attempts in 72 hours when each wait has its mean length", () => {
    let attempts = 1;
    let at = since;
    for (;;) {
      const next = nextAttemptAt(plan, { attempt: attempts, since, endedAt: at }, middle);
      if (!next) break;
      attempts += 1;
      at = next;
    }
    expect(attempts).toBe(78);
  });

  it("waits for the later of its own delay and Retry-After", () => {
    expect(waitAfter(1, middle, 600 * secondMs)).toBe(600 * secondMs);
    expect(waitAfter(7, middle, 1 * secondMs)).toBe(hourMs);
  });

  it("waits at most 24 hours for Retry-After", () => {
    expect(waitAfter(1, middle, 100 * hourMs)).toBe(24 * hourMs);
  });

  it("tells the earliest time that Retry-After allows, at most 24 hours after the attempt", () => {
    const until = (retryAfterMs?: number) => notBefore({ endedAt: since, retryAfterMs });
    expect([until(), until(0), until(secondMs), until(100 * hourMs)]).toEqual([
      undefined,
      since,
      new Date("2026-11-21T09:00:01.000Z"),
      new Date("2026-11-22T09:00:00.000Z"),
    ]);
  });
});

describe("Retry-After", () => {
  const now = new Date("2026-11-21T09:00:00.000Z");
  it.each([
    ["120", 120_000],
    [" 0 ", 0],
    ["Sat, 21 Nov 2026 09:01:30 GMT", 90_000],
    ["Sat, 21 Nov 2026 08:00:00 GMT", 0],
  ])("%j, received at 09:00 GMT on 21 November 2026, is read as %i ms", (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });

  it.each(["", "soon", "-5", "1.5", "1e3", "99999999999", "2026-11-21", "Sat, 99 Nov 2026 09:01:30 GMT"])(
    "%j is ignored",
    (header) => {
      expect(parseRetryAfter(header, now)).toBeUndefined();
    },
  );
});
