import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { repeat } from "./repeat.ts";
import { untilDone } from "./until-done.ts";
import { withLease } from "./with-lease.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const unexpected = (error: unknown) => {
  throw error;
};

describe("repeated work", () => {
  test("pauses between the end of one run and the start of the next", async () => {
    let begun = 0;
    const work = async () => {
      begun += 1;
      await new Promise((end) => setTimeout(end, 30));
    };
    const loop = repeat(work, { everyMs: 100, onFailure: unexpected });
    expect(begun).toBe(1);
    await vi.advanceTimersByTimeAsync(129);
    expect(begun).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toBe(2);
    const stopped = loop[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(30);
    await stopped;
  });

  test("that fails is reported, and is repeated after the pause for failures", async () => {
    const failures: unknown[] = [];
    const work = async () => {
      throw new Error(`failure ${failures.length}`);
    };
    const onFailure = (error: unknown) => void failures.push(error);
    await using _loop = repeat(work, { everyMs: 1_000, retryMs: 10, pausesFirst: true, onFailure });
    await vi.advanceTimersByTimeAsync(999);
    expect(failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(11);
    expect(failures).toEqual([new Error("failure 0"), new Error("failure 1")]);
  });

  test("starts again as soon as a pause that can be woken ends", async () => {
    const pauses: number[] = [];
    let wake = () => {};
    const pause = (ms: number, signal: AbortSignal) => {
      pauses.push(ms);
      return new Promise<void>((end) => {
        wake = end;
        signal.addEventListener("abort", () => end());
      });
    };
    const work = async () => {
      if (pauses.length === 1) throw new Error("a failure");
    };
    const loop = repeat(work, { everyMs: 1_000, retryMs: 10, pause, onFailure: () => {} });
    await vi.advanceTimersByTimeAsync(0);
    expect(pauses).toEqual([1_000]);
    wake();
    await vi.advanceTimersByTimeAsync(0);
    await loop[Symbol.asyncDispose]();
    expect(pauses).toEqual([1_000, 10]);
  });

  test("is waited for at a stop, and its abort is not reported as a failure", async () => {
    let end = () => {};
    const work = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => (end = () => reject(signal.reason))));
    const loop = repeat(work, { everyMs: 1, onFailure: unexpected });
    let isStopped = false;
    const stopped = loop[Symbol.asyncDispose]().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(10);
    expect(isStopped).toBe(false);
    end();
    await stopped;
  });
});

describe("work until it is done", () => {
  test("is tried again after a pause, and gives its result", async () => {
    let tries = 0;
    const work = async () => {
      tries += 1;
      if (tries < 3) throw new Error("not yet");
      return "done";
    };
    const { signal } = new AbortController();
    const done = untilDone(work, { signal, retryMs: 50, onFailure: () => {} });
    await vi.advanceTimersByTimeAsync(99);
    expect(tries).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await done).toBe("done");
  });

  test("ends without a result when its signal aborts", async () => {
    const stop = new AbortController();
    const work = () => Promise.reject(new Error("never"));
    const done = untilDone(work, { signal: stop.signal, retryMs: 50, onFailure: () => {} });
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    expect(await done).toBeUndefined();
  });
});

describe("a lease", () => {
  const { signal } = new AbortController();

  test("is renewed four times within its time, while the work lasts", async () => {
    const renewals: number[] = [];
    const renew = async (until: Date) => renewals.push(until.getTime() - Date.now()) > 0;
    const work = withLease({ leaseMs: 400, renew, signal }, async () => new Promise((end) => setTimeout(end, 450)));
    await vi.advanceTimersByTimeAsync(2_000);
    await work;
    expect(renewals).toEqual([400, 400, 400, 400]);
  });

  test("that another process has taken ends the work; a renewal that fails does not", async () => {
    const answers = [Promise.reject(new Error("down")), Promise.resolve(true), Promise.resolve(false)];
    answers[0]?.catch(() => {});
    const states: boolean[] = [];
    const work = withLease({ leaseMs: 400, renew: () => answers.shift()!, signal }, async (lease) => {
      const ended = new Promise<void>((end) => lease.signal.addEventListener("abort", () => end()));
      states.push(lease.isLost);
      await ended;
      states.push(lease.isLost);
    });
    await vi.advanceTimersByTimeAsync(299);
    expect(states).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    await work;
    expect(states).toEqual([false, true]);
  });
});
