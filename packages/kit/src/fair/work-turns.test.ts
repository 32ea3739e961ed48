import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createWorkTurns } from "./work-turns.ts";

/** Turns of the event loop, on a clock that only `work` advances. */
function turns() {
  let nowMs = 0;
  const done: string[] = [];
  const takeTurn = createWorkTurns(() => nowMs);
  const work = async (name: string, ms: number) =>
    takeTurn(name.slice(0, 1), () => {
      nowMs += ms;
      done.push(name);
      return name;
    });
  return { work, done };
}

test("the first work of a turn runs at once", async () => {
  const { work, done } = turns();
  const result = work("a1", 1);
  expect(done).toEqual(["a1"]);
  expect(await result).toBe("a1");
});

test("work that comes after 5 ms of work in a turn waits for the next turn", async () => {
  const { work, done } = turns();
  const all = Promise.all(Array.from({ length: 12 }, (_, index) => work(`a${index}`, 1)));
  expect(done).toHaveLength(5);
  await nextTurn();
  expect(done).toHaveLength(10);
  await all;
  expect(done).toHaveLength(12);
});

test("tenants with waiting work alternate", async () => {
  const { work, done } = turns();
  const many = ["a1", "a2", "a3", "a4", "b1"].map((name) => work(name, 10));
  await Promise.all(many);
  expect(done).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

test("an error of the work reaches its caller, and the next work runs", async () => {
  let nowMs = 0;
  const takeTurn = createWorkTurns(() => nowMs);
  const fail = () => {
    nowMs += 10;
    throw new Error("no");
  };
  expect(() => takeTurn("a", fail)).toThrow("no");
  await expect(takeTurn("a", fail)).rejects.toThrow("no");
  expect(await takeTurn("a", () => 1)).toBe(1);
});
