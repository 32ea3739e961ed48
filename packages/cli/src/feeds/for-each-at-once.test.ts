import { expect, test } from "vitest";
import { forEachAtOnce } from "./for-each-at-once.ts";

test("at most as many items are under way as were allowed, and that many are", async () => {
  let underWay = 0;
  const seen: number[] = [];
  const gate = Promise.withResolvers<void>();
  await forEachAtOnce([1, 2, 3, 4, 5, 6, 7], 3, async () => {
    seen.push(++underWay);
    if (underWay === 3) gate.resolve();
    await gate.promise;
    underWay--;
  });
  expect(Math.max(...seen)).toBe(3);
  expect(seen).toHaveLength(7);
});

test("the first failure ends it: it is thrown after the others under way are done, nothing new begins, the stream is closed", async () => {
  let closed = false;
  const begun: number[] = [];
  const ended: number[] = [];
  async function* numbers() {
    try {
      for (let n = 1; ; n++) yield n;
    } finally {
      closed = true;
    }
  }
  const failed = Promise.withResolvers<void>();
  const run = forEachAtOnce(numbers(), 2, async (n) => {
    begun.push(n);
    if (n === 2) {
      failed.resolve();
      throw new Error("two");
    }
    await failed.promise;
    await Promise.resolve();
    ended.push(n);
  });
  await expect(run).rejects.toThrow("two");
  expect({ begun, ended, closed }).toEqual({ begun: [1, 2], ended: [1], closed: true });
});
