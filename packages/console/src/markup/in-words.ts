/*
 * English forms of numbers and times as `Intl` makes them, but for `just now`, and `Sep` instead of
 * `Sept`. Made without `Intl`, whose first use reads locale data from the binary of Node, which
 * costs a process 8 MiB.
 */

const minuteMs = 60_000;
const units = [
  { ms: 1_440 * minuteMs, one: ["yesterday", "tomorrow"], name: "days" },
  { ms: 60 * minuteMs, one: ["1 hour ago", "in 1 hour"], name: "hours" },
  { ms: minuteMs, one: ["1 minute ago", "in 1 minute"], name: "minutes" },
] as const;

/** An integer in groups of three digits: `12,345`. */
export function figure(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** The day of an instant in UTC: `24 Nov 2026`. */
export function dayOf(at: Date): string {
  return at.toUTCString().slice(5, 16).replace(/^0/, "");
}

/** The time of day of an instant in UTC: `01:10`. */
export function minuteOf(at: Date): string {
  return at.toISOString().slice(11, 16);
}

/** The time of day of an instant in UTC, to the second: `01:10:09`. */
export function secondOf(at: Date): string {
  return at.toISOString().slice(11, 19);
}

/**
 * A distance of time, negative for the past: `2 minutes ago`, `in 3 days`, `tomorrow`, `just now`.
 * The past is rounded down and the future to the nearest, so that what ends in seven days is not
 * said to end in six a moment later.
 */
export function distance(ms: number): string {
  const length = ms < 0 ? -ms : Math.round(ms / minuteMs) * minuteMs;
  const unit = units.find((each) => length >= each.ms);
  if (!unit) return "just now";
  const count = ms < 0 ? Math.trunc(length / unit.ms) : Math.round(ms / unit.ms);
  if (count === 1) return unit.one[ms < 0 ? 0 : 1];
  return ms < 0 ? `${count} ${unit.name} ago` : `in ${count} ${unit.name}`;
}
