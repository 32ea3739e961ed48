import { expect, it } from "vitest";
import { dayOf, distance, figure, minuteOf, secondOf } from "./in-words.ts";

const hourMs = 3_600_000;
const at = (n: number) => new Date(Date.UTC(2024, 0, 1) + n * 37 * hourMs + n * 61_001);
const instants = Array.from({ length: 1_000 }, (_, n) => at(n));
const shown = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return instants.map((each) => format.format(each));
};

it("days and times are written as Intl writes them, but with Sep in place of Sept", () => {
  const days = shown({ dateStyle: "medium" }).map((day) => day.replace("Sept", "Sep"));
  expect(instants.map(dayOf)).toEqual(days);
  expect(instants.map(minuteOf)).toEqual(shown({ timeStyle: "short" }));
  expect(instants.map(secondOf)).toEqual(shown({ timeStyle: "medium" }));
});

it("counts are written as Intl writes them", () => {
  const format = new Intl.NumberFormat("en");
  const counts = [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 12_345_678_901_234_567_890n];
  expect(counts.map(figure)).toEqual(counts.map((count) => format.format(count)));
});

it("distances of whole minutes, hours and days are written as Intl writes them", () => {
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, ms] of [["day", 24 * hourMs] as const, ["hour", hourMs] as const, ["minute", 60_000] as const]) {
    for (const count of [-20, -2, -1, 1, 2, 20]) expect(distance(count * ms)).toBe(format.format(count, unit));
  }
});

const almost = [7 * 24 * hourMs, hourMs, 60_000].map((ms) => ms - 1_000);

it("distances of the future are rounded", () => {
  expect(almost.map(distance)).toEqual(["in 7 days", "in 1 hour", "in 1 minute"]);
  expect(distance(29_999)).toBe("just now");
});

it("distances of the past are cut, not rounded", () => {
  expect(almost.map((ms) => distance(-ms))).toEqual(["6 days ago", "59 minutes ago", "just now"]);
  expect(distance(-59_999)).toBe("just now");
});
