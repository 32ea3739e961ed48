import { createLogger } from "@vidimus/kit/telemetry/log";
import { expect, onTestFinished, test, vi } from "vitest";
import { LastUsed } from "./last-used.ts";

const minuteMs = 60_000;

test("when a flush fails, the next one stores each key's newest use", async () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const touch = vi.fn<(used: ReadonlyMap<string, Date>) => Promise<void>>(async () => {});
  await using lastUsed = new LastUsed({ touch }, createLogger("gateway", "silent"));
  lastUsed.note("idle");
  lastUsed.note("busy");
  touch.mockImplementationOnce(async () => {
    lastUsed.note("busy");
    throw new Error("down");
  });
  await vi.advanceTimersByTimeAsync(minuteMs);
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(touch).toHaveBeenCalledTimes(2);
  expect(touch.mock.lastCall).toEqual([
    new Map([
      ["idle", new Date(0)],
      ["busy", new Date(minuteMs)],
    ]),
  ]);
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(touch).toHaveBeenCalledTimes(2);
});
