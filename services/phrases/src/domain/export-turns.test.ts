import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExportTurns } from "./export-turns.ts";

const never = new AbortController().signal;
let turns: ExportTurns;
/** The steps that run, with what ends them. */
let running: Map<string, () => void>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  turns = new ExportTurns();
  running = new Map();
});

afterEach(() => vi.useRealTimers());

/** Runs a step that lasts until it is ended; its name begins with its tenant. */
const step = (name: string, signal = never) =>
  turns.run(name.slice(0, 1), signal, async () => {
    await new Promise<void>((end) => running.set(name, end));
    running.delete(name);
  });

/** Ends a step, and waits until what it made room for runs. */
async function end(name: string, pauseMs = 20): Promise<void> {
  running.get(name)?.();
  await nextTurn();
  await vi.advanceTimersByTimeAsync(pauseMs);
}

const names = () => [...running.keys()];

test("two steps run at a time, and tenants take turns in what waits", async () => {
  const all = Promise.all(["a1", "a2", "a3", "a4", "b1"].map((name) => step(name)));
  expect(names()).toEqual(["a1", "a2"]);
  await end("a1");
  expect(names()).toEqual(["a2", "a3"]);
  await end("a2");
  expect(names()).toEqual(["a3", "b1"]);
  for (const name of ["a3", "b1", "a4"]) await end(name);
  await all;
  void step("a5");
  void step("a6");
  expect(names()).toEqual(["a5", "a6"]);
});

test("a step that fails gives its place on", async () => {
  const failing = [1, 2].map(() => turns.run("a", never, () => Promise.reject(new Error("no"))));
  const next = step("a3");
  for (const each of failing) await expect(each).rejects.toThrow("no");
  await vi.advanceTimersByTimeAsync(20);
  expect(names()).toEqual(["a3"]);
  await end("a3");
  await next;
});

test("a step whose caller leaves while it waits does not run", async () => {
  void step("a1");
  void step("a2");
  const caller = new AbortController();
  const left = expect(step("a3", caller.signal)).rejects.toThrow("gone");
  void step("a4");
  caller.abort(new Error("gone"));
  await left;
  await end("a1");
  expect(names()).toEqual(["a2", "a4"]);
});

test("while others wait, a place stays empty for as long as the step took", async () => {
  void step("a1");
  void step("a2");
  void step("a3");
  await vi.advanceTimersByTimeAsync(8);
  await end("a1", 7);
  expect(names()).toEqual(["a2"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(names()).toEqual(["a2", "a3"]);
  // Nobody waits: the next one starts at once.
  await end("a2", 0);
  void step("b1");
  expect(names()).toEqual(["a3", "b1"]);
});
