import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { forEachConcurrent } from "./for-each-concurrent.ts";

test("exactly as many items are worked on at the same time as the limit allows", async () => {
  let underWay = 0;
  const seen: number[] = [];
  const gate = Promise.withResolvers<void>();
  await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], 3, async () => {
    seen.push(++underWay);
    if (underWay === 3) gate.resolve();
    await gate.promise;
    underWay--;
  });
  expect(Math.max(...seen)).toBe(3);
  expect(seen).toHaveLength(7);
});

/** Works on an endless stream, two items at a time, of which the second fails. */
function failingRun() {
  const stream = { closed: false };
  const begun: number[] = [];
  const ended: number[] = [];
  async function* numbers() {
    try {
      for (let n = 1; ; n++) yield n;
    } finally {
      stream.closed = true;
    }
  }
  const failed = Promise.withResolvers<void>();
  const run = forEachConcurrent(numbers(), 2, async (n) => {
    begun.push(n);
    if (n === 2) {
      failed.resolve();
      throw new Error("two");
    }
    await failed.promise;
    await turn();
    ended.push(n);
  });
  return { run, begun, ended, stream };
}

test("a failure is thrown after the other running call has ended", async () => {
  const { run, ended } = failingRun();
  await expect(run).rejects.toThrow("two");
  expect(ended).toEqual([1]);
});

test("a failure ends the work: the stream is closed, and no further item is begun", async () => {
  const { run, begun, stream } = failingRun();
  await expect(run).rejects.toThrow("two");
  expect({ begun, stream }).toEqual({ begun: [1, 2], stream: { closed: true } });
});

test("an item that arrives after a failure is not begun", async () => {
  const begun: number[] = [];
  const failed = Promise.withResolvers<void>();
  async function* numbers() {
    yield 1;
    await failed.promise;
    yield 2;
  }
  const run = forEachConcurrent(numbers(), 2, async (n) => {
    begun.push(n);
    failed.resolve();
    throw new Error(String(n));
  });
  await expect(run).rejects.toThrow("1");
  expect(begun).toEqual([1]);
});
