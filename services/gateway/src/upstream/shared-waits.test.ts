import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shareWaits } from "./shared-waits.ts";

interface Question {
  readonly position: string;
  readonly waitMs: number;
}

interface Asked extends Question {
  readonly signal: AbortSignal | undefined;
  answer(text: string): void;
  fail(error: Error): void;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function followers() {
  const asked: Asked[] = [];
  const wait = shareWaits<Question, string>(
    ({ position }) => position,
    (question, { signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      signal?.addEventListener("abort", () => reject(signal.reason));
      asked.push({ ...question, signal, answer: resolve, fail: reject });
      return promise;
    },
  );
  const follow = (position: string, waitMs = 20_000, signal = new AbortController().signal) =>
    wait({ position, waitMs }, { signal });
  return { asked, follow };
}

test("callers with the same question and the same `waitMs` share one call and its answer", async () => {
  const { asked, follow } = followers();
  const same = [follow("a"), follow("a"), follow("a")];
  const others = [follow("b"), follow("a", 10_000)];
  expect(asked.map(({ position, waitMs }) => [position, waitMs])).toEqual([
    ["a", 20_000],
    ["b", 20_000],
    ["a", 10_000],
  ]);
  for (const [n, { answer }] of asked.entries()) answer(`answer ${n}`);
  expect(await Promise.all(same)).toEqual(["answer 0", "answer 0", "answer 0"]);
  expect(await Promise.all(others)).toEqual(["answer 1", "answer 2"]);
});

test("later callers join a running call only in the first twentieth of its `waitMs`", async () => {
  const { asked, follow } = followers();
  void follow("a");
  await vi.advanceTimersByTimeAsync(1_000);
  void follow("a");
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  void follow("a");
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1_000);
  void follow("a");
  expect(asked).toHaveLength(2);
});

test("an answer or a failure is not shared with callers that come after it", async () => {
  const { asked, follow } = followers();
  const first = follow("a");
  asked[0]!.answer("old");
  await first;
  const failed = [follow("a"), follow("a")];
  asked[1]!.fail(new Error("lost"));
  expect(await Promise.allSettled(failed)).toMatchObject([{ reason: { message: "lost" } }, { status: "rejected" }]);
  const next = follow("a");
  asked[2]!.answer("new");
  expect(await next).toBe("new");
});

/** Two callers who share a call, and a way for each to abort. */
function pair() {
  const { asked, follow } = followers();
  const [first, second] = [new AbortController(), new AbortController()];
  const waits = [follow("a", 20_000, first.signal), follow("a", 20_000, second.signal)];
  return { asked, follow, first, second, waits };
}

test("a caller that aborts is rejected at once", async () => {
  const { first, waits } = pair();
  first.abort(new Error("gone"));
  await expect(waits[0]).rejects.toThrow("gone");
});

test("a call is aborted only when its last caller aborts", async () => {
  const { asked, first, second, waits } = pair();
  first.abort(new Error("gone"));
  await expect(waits[0]).rejects.toThrow("gone");
  expect(asked[0]!.signal!.aborted).toBe(false);
  second.abort(new Error("gone, too"));
  await expect(waits[1]).rejects.toThrow("gone, too");
  expect(asked[0]!.signal!.aborted).toBe(true);
});

test("a call that was aborted is not joined", async () => {
  const { asked, follow, first, second, waits } = pair();
  first.abort(new Error("gone"));
  second.abort(new Error("gone, too"));
  await Promise.allSettled(waits);
  void follow("a");
  expect(asked).toHaveLength(2);
});

test("a caller whose signal had already aborted leaves no call for others to join", async () => {
  const { asked, follow } = followers();
  await expect(follow("a", 20_000, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  expect(asked.every(({ signal }) => signal!.aborted)).toBe(true);
  const later = follow("a");
  asked.at(-1)!.answer("answer");
  expect(await later).toBe("answer");
});
