import { describe, expect, it, vi } from "vitest";
import { patient } from "../testing/patient.ts";
import { createBatcher } from "./batcher.ts";

/** A runner whose batches finish when the test calls `finish`. */
function gatedRunner() {
  const batches: { items: number[]; finish: (error?: Error) => void }[] = [];
  const run = (items: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      batches.push({ items, finish: (error) => (error ? reject(error) : resolve(items.map((item) => item * 10))) });
    });
  return { batches, run };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a batcher", () => {
  it("sends an item at once when idle", async () => {
    const { batches, run } = gatedRunner();
    void createBatcher({ run, itemsMax: 64 })(1);
    await Promise.resolve();
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });

  it("collects items while a batch is in flight", async () => {
    const { batches, run } = gatedRunner();
    const submit = createBatcher({ run, itemsMax: 64 });
    const first = submit(1);
    await turn();
    const later = [submit(2), submit(3)];
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
    batches[0]!.finish();
    expect(await first).toBe(10);
    await turn();
    batches[1]!.finish();
    expect(await Promise.all(later)).toEqual([20, 30]);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3]]);
  });

  /** The batches that are made of items, each of which has its number as its size. */
  async function batchesOf(...items: number[]) {
    const { batches, run } = gatedRunner();
    const submit = createBatcher({ run, itemsMax: 3, bytesMax: 10, sizeOf: (item) => item, inFlightMax: 10 });
    const all = items.map((item) => submit(item));
    await turn();
    for (const batch of batches) batch.finish();
    await Promise.all(all);
    return batches.map((batch) => batch.items);
  }

  it("ends a batch at `itemsMax`", async () => {
    expect(await batchesOf(1, 1, 1, 1)).toEqual([[1, 1, 1], [1]]);
  });

  it("ends a batch at `bytesMax`", async () => {
    expect(await batchesOf(1, 9, 2)).toEqual([[1, 9], [2]]);
  });

  it("runs an item of more than `bytesMax` alone", async () => {
    expect(await batchesOf(1, 50, 2)).toEqual([[1], [50], [2]]);
  });

  it("fails every item of a failed batch, and none of the next batch", async () => {
    const { batches, run } = gatedRunner();
    const submit = createBatcher({ run, itemsMax: 2 });
    const settled = Promise.allSettled([submit(1), submit(2), submit(3)]);
    await turn();
    batches[0]!.finish(new Error("refused"));
    await turn();
    batches[1]!.finish();
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("fails one item alone when its result is an Error", async () => {
    const run = async (items: number[]) => items.map((item) => (item === 2 ? new Error("refused") : item));
    const submit = createBatcher<number, number>({ run, itemsMax: 64 });
    const settled = await Promise.allSettled([submit(1), submit(2), submit(3)]);
    expect(settled.map((each) => (each.status === "fulfilled" ? each.value : each.reason.message))).toEqual([
      1,
      "refused",
      3,
    ]);
  });

  it("fails the batch when the number of results differs from the number of items", async () => {
    const submit = createBatcher<number, number>({ run: async () => [], itemsMax: 2 });
    await expect(submit(1)).rejects.toThrow("1 items was answered with 0");
    const many = createBatcher<number, number>({ run: async () => [1, 2], itemsMax: 2 });
    await expect(many(1)).rejects.toThrow("1 items was answered with 2");
  });

  it("fails the batch whose partial answer has no result at all", async () => {
    const submit = createBatcher<number, number>({ run: async () => [], itemsMax: 3, partialAnswers: true });
    await expect(submit(1)).rejects.toThrow("1 items was answered with 0");
  });

  it("gives each lane batches of its own: a slow lane does not delay another", async () => {
    const { batches, run } = gatedRunner();
    const submit = createBatcher({ run, itemsMax: 64, laneOf: (item) => (item < 10 ? "small" : "large") });
    const slow = [submit(11), submit(12)];
    const quick = submit(1);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[11, 12], [1]]);
    const behind = [submit(13), submit(2)];
    batches[1]!.finish();
    expect(await quick).toBe(10);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[11, 12], [1], [2]]);
    batches[0]!.finish();
    batches[2]!.finish();
    await turn();
    batches[3]!.finish();
    expect(await Promise.all([...slow, ...behind])).toEqual([110, 120, 130, 20]);
  });

  it("lets lanes take turns when they share a limit of batches in flight", async () => {
    const { batches, run } = gatedRunner();
    const laneOf = (item: number) => String(Math.floor(item / 10));
    const submit = createBatcher({ run, itemsMax: 2, inFlightMax: 9, laneOf, lanesInFlightMax: 1 });
    const all = [11, 12, 13, 14, 15, 21, 31, 32].map((item) => submit(item));
    for (let at = 0; at < 5; at += 1) {
      await turn();
      expect(batches).toHaveLength(at + 1);
      batches[at]!.finish();
    }
    await Promise.all(all);
    expect(batches.map(({ items }) => items)).toEqual([[11, 12], [21], [31, 32], [13, 14], [15]]);
  });

  it("runs the items that a partial answer left out before later items", async () => {
    const batches: number[][] = [];
    const run = async (items: number[]) => {
      batches.push(items);
      await turn();
      return items.slice(0, 2);
    };
    const submit = createBatcher({ run, itemsMax: 3, partialAnswers: true });
    expect(await Promise.all([1, 2, 3, 4, 5].map((item) => submit(item)))).toEqual([1, 2, 3, 4, 5]);
    expect(batches).toEqual([[1, 2, 3], [3, 4, 5], [5]]);
  });

  it("starts another batch when all running batches are late, but runs at most `outMax` at a time", async () => {
    const { batches, run } = gatedRunner();
    const late: (readonly number[])[] = [];
    const onLate = (items: readonly number[]) => void late.push(items);
    const submit = createBatcher({ run, itemsMax: 64, late: { afterMs: 20, outMax: 3, onLate } });
    const all = [1, 2, 3].map(async (item) => {
      await vi.waitUntil(() => batches.length === item - 1, { ...patient, interval: 1 });
      return submit(item);
    });
    await vi.waitUntil(() => batches.length === 3, { ...patient, interval: 1 });
    await vi.waitUntil(() => late.length === 3, { ...patient, interval: 1 });
    expect(late).toEqual([[1], [2], [3]]);
    const beyond = [submit(4), submit(5)];
    await turn();
    expect(batches).toHaveLength(3);
    batches[1]!.finish();
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2], [3], [4, 5]]);
    for (const batch of batches) batch.finish();
    expect(await Promise.all([...all, ...beyond])).toEqual([10, 20, 30, 40, 50]);
  });

  it("fails an item at its deadline, after which it is no longer sent", async () => {
    const { batches, run } = gatedRunner();
    const deadline = { ms: 60, error: (wasSent: boolean) => new Error(wasSent ? "no answer" : "never sent") };
    const submit = createBatcher({ run, itemsMax: 64, deadline });
    const startedMs = performance.now();
    const outcomes = Promise.allSettled([submit(1), turn().then(() => submit(2))]);
    const reasons = (await outcomes).map((each) => each.status === "rejected" && each.reason.message);
    expect(reasons).toEqual(["no answer", "never sent"]);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(50);
    batches[0]!.finish();
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });

  it("gives `run` the time that is left until the deadline of the batch's newest item", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const { batches, run } = gatedRunner();
      const left: number[] = [];
      const submit = createBatcher({
        run: (items: number[], leftMs) => (left.push(leftMs), run(items)),
        itemsMax: 64,
        deadline: { ms: 60, error: () => new Error("late") },
      });
      const all = [submit(1)];
      await turn();
      all.push(submit(2));
      vi.advanceTimersByTime(25);
      all.push(submit(3));
      vi.advanceTimersByTime(10);
      batches[0]!.finish();
      await turn();
      batches[1]!.finish();
      await Promise.all(all);
      expect(left).toEqual([60, 50]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("lets the tenants of a lane take turns within a batch", async () => {
    const { batches, run } = gatedRunner();
    const turnOf = (item: number) => String(Math.floor(item / 10));
    const submit = createBatcher({ run, itemsMax: 4, turnOf });
    const all = [11, 12, 13, 14, 15, 21, 22, 31].map((item) => submit(item));
    for (let at = 0; at < 2; at += 1) {
      await turn();
      batches[at]!.finish();
    }
    await Promise.all(all);
    expect(batches.map(({ items }) => items)).toEqual([
      [11, 21, 31, 12],
      [22, 13, 14, 15],
    ]);
  });

  it("starts batches of a lane at least its spacing apart, except for the first item and a full batch", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const batches: number[][] = [];
      const run = async (items: number[]) => (batches.push(items), items);
      const laneOf = (item: number) => (item < 100 ? "spaced" : "prompt");
      const spacingMsOf = (lane: string) => (lane === "spaced" ? 25 : 0);
      const submit = createBatcher({ run, itemsMax: 3, laneOf, spacingMsOf });
      await submit(1);
      const early = [submit(2), submit(3)];
      await Promise.all([submit(101), submit(102).then(() => submit(103))]);
      expect(batches).toEqual([[1], [101, 102], [103]]);
      vi.advanceTimersByTime(24);
      expect(batches).toHaveLength(3);
      vi.advanceTimersByTime(1);
      expect(await Promise.all(early)).toEqual([2, 3]);
      expect(await Promise.all([4, 5, 6].map((item) => submit(item)))).toEqual([4, 5, 6]);
      expect(batches.slice(3)).toEqual([
        [2, 3],
        [4, 5, 6],
      ]);
      vi.advanceTimersByTime(25);
      expect(await submit(7)).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });
});
