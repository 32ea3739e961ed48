import { describe, expect, it } from "vitest";
import { createBatcher } from "./batcher.ts";

/** A runner whose batches finish when the test says so. */
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
  it("sends at once when idle, and collects while a batch is in flight", async () => {
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

  it("ends a batch at its most items and at its most bytes, and lets a larger item go alone", async () => {
    const { batches, run } = gatedRunner();
    const submit = createBatcher({ run, itemsMax: 3, bytesMax: 10, sizeOf: (item) => item, inFlightMax: 10 });
    const all = [1, 1, 1, 1, 9, 50, 2].map((item) => submit(item));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 1, 1], [1, 9], [50], [2]]);
    for (const batch of batches) batch.finish();
    await Promise.all(all);
  });

  it("fails every item of a failed batch, and goes on with the next", async () => {
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

  it("fails the batch when the answer has another length than the question", async () => {
    const submit = createBatcher<number, number>({ run: async () => [], itemsMax: 2 });
    await expect(submit(1)).rejects.toThrow("1 items was answered with 0");
  });
});
