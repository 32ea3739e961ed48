import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Job } from "./check-job.ts";
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

test("a tenant rests for a quarter of a second at most", async () => {
  const first = run("a1");
  const second = run("a2");
  vi.advanceTimersByTime(5_000);
  await first;
  vi.advanceTimersByTime(250);
  await second;
});

test("a tenant does not rest when none of its jobs waits", async () => {
  const first = run("a1");
  vi.advanceTimersByTime(5_000);
  await first;
  await run("a2");
});

test("the bytes of a job are empty for its sender after the job has run", async () => {
  const bytes = new Uint8Array(100_000);
  await threads.run("a", { kind: "schema", field: "a1", bytes });
  expect(bytes.byteLength).toBe(0);
});

test("a job whose caller has gone before its turn is passed to no thread", async () => {
  const bytes = new Uint8Array(100_000);
  const gone = new AbortController();
  const first = run("a1");
  const second = threads.run("a", { kind: "schema", field: "a2", bytes }, gone.signal);
  gone.abort(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  await first;
  await run("a3");
  expect(bytes.byteLength).toBe(100_000);
});

test("only the job that cannot be passed to a thread is rejected, not the next jobs of its tenant", async () => {
  await run("a1");
  const job = { kind: "schema", field: () => "a2", bytes: new Uint8Array() } as unknown as Job;
  await expect(threads.run("a", job)).rejects.toThrow("could not be cloned");
  await run("a3");
  await expect(threads.run("a", job)).rejects.toThrow("could not be cloned");
  await run("a4");
  expect(done).toEqual(["a1", "a3", "a4"]);
});

test("every job is rejected while no thread can be started", async () => {
  await using broken = new JobThreads({ entry: new URL("http://localhost/"), threads: 2, cpuMs: 500, heapMiB: 64 });
  const job = () => broken.run("a", { kind: "schema", field: "a", bytes: new Uint8Array() });
  const ends = [job(), job(), job()];
  for (const end of ends) await expect(end).rejects.toThrow("must be of scheme file");
});
