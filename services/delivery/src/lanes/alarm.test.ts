import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Alarm } from "./alarm.ts";

const hourMs = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Begins a sleep of an hour. Returns whether it has ended after `ms`. */
async function endsWithin(alarm: Alarm, ms: number, signal = new AbortController().signal): Promise<boolean> {
  let hasEnded = false;
  void alarm.sleep(hourMs, signal).then(() => (hasEnded = true));
  await vi.advanceTimersByTimeAsync(ms);
  return hasEnded;
}

test("a ring while nobody sleeps ends the next sleep at once, and not the one after it", async () => {
  const alarm = new Alarm();
  alarm.ring();
  expect(await endsWithin(alarm, 0)).toBe(true);
  expect(await endsWithin(alarm, hourMs - 1)).toBe(false);
});

/** An alarm that was asked to ring in 30, in 10 and in 20 ms. */
function ringingIn10Ms(): Alarm {
  const alarm = new Alarm();
  for (const ms of [30, 10, 20]) alarm.ringAt(Date.now() + ms);
  return alarm;
}

test("a sleep ends at the earliest requested time", async () => {
  expect(await endsWithin(ringingIn10Ms(), 9)).toBe(false);
  expect(await endsWithin(ringingIn10Ms(), 10)).toBe(true);
});

test("the end of a sleep makes the alarm forget the later requested times", async () => {
  const alarm = ringingIn10Ms();
  expect(await endsWithin(alarm, 10)).toBe(true);
  expect(await endsWithin(alarm, hourMs - 1)).toBe(false);
});

test("a sleep ends after its time", async () => {
  expect(await endsWithin(new Alarm(), hourMs - 1)).toBe(false);
  expect(await endsWithin(new Alarm(), hourMs)).toBe(true);
});

test("a sleep ends as soon as its signal aborts", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 10);
  expect(await endsWithin(new Alarm(), 10, stop.signal)).toBe(true);
});
