import { expect, test } from "vitest";
import { CpuDeadline, type Overdue } from "./cpu-deadline.ts";

const deadlineMs = 20;

/** Runs a job whose thread gets this share of a CPU; resolves with the reason why it is ended. */
function endOf(share: number): Promise<Overdue> {
  const started = performance.now();
  const worker = {
    cpuUsage: () => Promise.resolve({ user: (performance.now() - started) * 1_000 * share, system: 0 }),
  };
  return new Promise((resolve) => new CpuDeadline(worker, deadlineMs, resolve).start());
}

test("a job that has used up its CPU time is ended with the reason time", async () => {
  expect(await endOf(1)).toBe("time");
});

test("a job that gets its CPU time slowly, as on a busy machine, may use all of it", async () => {
  const started = performance.now();
  expect(await endOf(0.03)).toBe("time");
  expect(performance.now() - started).toBeGreaterThanOrEqual(deadlineMs / 0.03);
});

test("a job whose thread gets no CPU time is ended with the reason stalled", async () => {
  expect(await endOf(0)).toBe("stalled");
});
