import { beforeEach, expect, test } from "vitest";
import { CheckedClock } from "./checked-clock.ts";

const databaseStart = Date.parse("2026-11-21T09:30:00.000Z");

let elapsed: number;
let wall: number;
let clock: CheckedClock;

beforeEach(() => {
  [elapsed, wall] = [0, databaseStart];
  clock = new CheckedClock({ now: () => new Date(wall), elapsedMs: () => elapsed });
});

/**
 * Compares the clock with that of a database, which answers after `tookMs` with the time halfway
 * through the wait.
 */
const compare = (tookMs = 0) =>
  clock.compare(async () => {
    const time = new Date(databaseStart + elapsed + tookMs / 2);
    elapsed += tookMs;
    wall += tookMs;
    return time;
  });

test("a clock that was not compared yet is used as it is", () => {
  expect([clock.isOff, clock.offsetMs(), clock.now()]).toEqual([false, undefined, new Date(wall)]);
});

test.each([
  [60_000, "right"],
  [60_001, "off"],
  [-60_000, "right"],
  [-60_001, "off"],
])("a clock %i ms from the database's counts as %s", async (offsetMs, verdict) => {
  wall += offsetMs;
  await compare();
  expect([clock.isOff, clock.offsetMs()]).toEqual([verdict === "off", offsetMs]);
});

test("while the clock of the process is off, now() gives the database's time", async () => {
  wall += 3_600_000;
  await compare(40);
  elapsed += 1_000;
  wall += 1_000;
  expect(clock.now()).toEqual(new Date(databaseStart + 1_040));
});

test("while the clock of the process is off, signing is refused, and the error says by how much", async () => {
  wall += 3_600_000;
  await compare();
  expect(() => clock.require()).toThrow("3600 s ahead of the database's: nothing is signed");
  wall -= 2 * 3_600_000;
  expect(() => clock.require()).toThrow("3600 s behind the database's: nothing is signed");
});

test("a step of the clock, forth or back, is noticed before the next comparison", async () => {
  await compare();
  wall += 61_000;
  expect(clock.isOff).toBe(true);
  wall -= 61_000;
  expect(clock.isOff).toBe(false);
  expect(() => clock.require()).not.toThrow();
  wall -= 61_000;
  expect(clock.isOff).toBe(true);
});

test("an offset is tolerated up to 60 s plus half of the time that the database took to answer", async () => {
  wall += 62_000;
  await compare(4_000);
  expect(clock.isOff).toBe(false);
  wall += 1;
  expect(clock.isOff).toBe(true);
});
