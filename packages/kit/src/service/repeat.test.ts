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

  /** Starts work that always fails, 1,000 ms from now. */
  function startFailing() {
    const failures: unknown[] = [];
    const work = async () => {
      throw new Error(`failure ${failures.length}`);
    };
    const onFailure = (error: unknown) => void failures.push(error);
    return { loop: repeat(work, { everyMs: 1_000, retryMs: 10, pausesFirst: true, onFailure }), failures };
  }

  test("that fails is repeated after the pause for failures", async () => {
    const { loop, failures } = startFailing();
    await using _loop = loop;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(failures).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(9);
    expect(failures).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(failures).toHaveLength(2);
  });

  test("that fails is reported with the error of each run", async () => {
    const { loop, failures } = startFailing();
    await using _loop = loop;
    await vi.advanceTimersByTimeAsync(999);
    expect(failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(11);
    expect(failures).toEqual([new Error("failure 0"), new Error("failure 1")]);
  });

  test("starts again as soon as a `pause` of the caller's own ends early", async () => {
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

  /** Starts work that a stop aborts, and that fails with the abort when `end` is called. */
  function startAborted(onFailure: (error: unknown) => void) {
    let end = () => {};
    const work = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => (end = () => reject(signal.reason))));
    const loop = repeat(work, { everyMs: 1, onFailure });
    return { stopped: loop[Symbol.asyncDispose](), end: () => end() };
  }

  test("is waited for at a stop", async () => {
    let isStopped = false;
    const { stopped, end } = startAborted(unexpected);
    const ended = stopped.then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(10);
    expect(isStopped).toBe(false);
    end();
    await ended;
  });

  test("is not reported as a failure when a stop aborts it", async () => {
    const failures: unknown[] = [];
    const { stopped, end } = startAborted((error) => void failures.push(error));
    end();
    await stopped;
    expect(failures).toEqual([]);
  });
});

describe("work until it is done", () => {
  test("is tried again after each pause until it gives its result", async () => {
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
    await vi.advanceTimersByTimeAsync(100);
    expect(tries).toBe(3);
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

  /** Work that lasts until its lease ends. Its renewals, every 100 ms, have the given answers. */
  function workWith(...answers: (boolean | Error)[]) {
    const states: boolean[] = [];
    const renew = async () => {
      const answer = answers.shift()!;
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const work = withLease({ leaseMs: 400, renew, signal }, async (lease) => {
      const ended = new Promise<void>((end) => lease.signal.addEventListener("abort", () => end()));
      states.push(lease.isLost);
      await ended;
      states.push(lease.isLost);
    });
    return { work, states };
  }

  test("that another process has taken ends the work", async () => {
    const { work, states } = workWith(true, false);
    await vi.advanceTimersByTimeAsync(199);
    expect(states).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    await work;
    expect(states).toEqual([false, true]);
  });

  test("does not end the work when a renewal fails", async () => {
    const { work, states } = workWith(new Error("down"), true, false);
    await vi.advanceTimersByTimeAsync(299);
    expect(states).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    await work;
  });
});
