import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JobThreads } from "./job-threads.ts";

/** A thread that ends each job at once. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ field }) => parentPort.postMessage({ done: field }));
  `)}`,
);
let threads: JobThreads;
/** The names of the jobs that have ended, in order. */
let done: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  threads = new JobThreads({ entry, threads: 2, cpuMs: 60_000, heapMiB: 64 });
  done = [];
});

afterEach(async () => {
  vi.useRealTimers();
  await threads[Symbol.asyncDispose]();
});

/** Runs a job for the tenant that the first letter of `name` names. */
async function run(name: string): Promise<void> {
  await threads.run(name.slice(0, 1), { kind: "schema", field: name, bytes: new Uint8Array() });
  done.push(name);
}

test("a tenant whose jobs queue up rests as long as they took, while another tenant's jobs are done", async () => {
  const first = run("a1");
  const second = run("a2");
  vi.advanceTimersByTime(30);
  await first;
  await run("b1");
  vi.advanceTimersByTime(29);
  await run("b2");
  expect(done).toEqual(["a1", "b1", "b2"]);
  vi.advanceTimersByTime(1);
  await second;
});

test("short jobs that queue up are followed by a rest once they took 20 ms together", async () => {
  const all = ["a1", "a2", "a3", "a4"].map(run);
  for (const [count, job] of all.entries()) {
    if (count < 3) vi.advanceTimersByTime(count < 2 ? 8 : 4);
    if (count < 3) await job;
  }
  await run("b1");
  expect(done).toEqual(["a1", "a2", "a3", "b1"]);
  vi.advanceTimersByTime(20);
  await all[3];
});

test("a tenant rests for a quarter of a second at most, and not at all when none of its jobs waits", async () => {
  const first = run("a1");
  const second = run("a2");
  vi.advanceTimersByTime(5_000);
  await first;
  vi.advanceTimersByTime(250);
  await second;
  const third = run("a3");
  vi.advanceTimersByTime(5_000);
  await third;
  await run("a4");
});

test("the bytes of a job are empty for its sender once it runs", async () => {
  const bytes = new Uint8Array(100_000);
  await threads.run("a", { kind: "schema", field: "a1", bytes });
  expect(bytes.byteLength).toBe(0);
});
