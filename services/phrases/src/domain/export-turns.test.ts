import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExportTurns } from "./export-turns.ts";

const never = new AbortController().signal;
let turns: ExportTurns;
/** The running steps by name, each with the function that ends it. */
let running: Map<string, () => void>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  turns = new ExportTurns();
  running = new Map();
});

afterEach(() => vi.useRealTimers());

/** Runs a step that lasts until `end`. The first letter of its name is its tenant. */
const step = (name: string, signal = never) =>
  turns.run(name.slice(0, 1), signal, async () => {
    await new Promise<void>((end) => running.set(name, end));
    running.delete(name);
  });

/** Ends a step and lets `pauseMs` pass, in which the next step may start. */
async function end(name: string, pauseMs = 20): Promise<void> {
  running.get(name)?.();
  await nextTurn();
  await vi.advanceTimersByTimeAsync(pauseMs);
}

const names = () => [...running.keys()];

test("two steps run at a time, each of another tenant", async () => {
  for (const name of ["a1", "a2", "b1", "c1"]) void step(name);
  expect(names()).toEqual(["a1", "b1"]);
  await end("b1", 0);
  expect(names()).toEqual(["a1", "c1"]);
});

test("tenants with waiting steps take turns", async () => {
  const all = Promise.all(["a1", "a2", "b1", "c1", "b2"].map((name) => step(name)));
  expect(names()).toEqual(["a1", "b1"]);
  await end("b1", 0);
  expect(names()).toEqual(["a1", "c1"]);
  await end("a1", 0);
  expect(names()).toEqual(["c1", "a2"]);
  await end("c1", 0);
  expect(names()).toEqual(["a2", "b2"]);
  for (const name of ["a2", "b2"]) await end(name, 0);
  await all;
  void step("a3");
  void step("b3");
  expect(names()).toEqual(["a3", "b3"]);
});

test("a tenant's step starts while another tenant's step runs, and while that tenant rests after it", async () => {
  for (const name of ["a1", "a2", "a3", "a4"]) void step(name);
  expect(names()).toEqual(["a1"]);
  await vi.advanceTimersByTimeAsync(20);
  void step("b1");
  expect(names()).toEqual(["a1", "b1"]);
  await end("a1", 0);
  await end("b1", 0);
  void step("b2");
  expect(names()).toEqual(["b2"]);
});

test("a step that fails lets the next one run", async () => {
  const failing = turns.run("a", never, () => Promise.reject(new Error("no")));
  const next = step("a2");
  await expect(failing).rejects.toThrow("no");
  expect(names()).toEqual(["a2"]);
  await end("a2");
  await next;
});

test("a step whose caller leaves while it waits does not run", async () => {
  void step("a1");
  const caller = new AbortController();
  const left = expect(step("a2", caller.signal)).rejects.toThrow("gone");
  void step("a3");
  caller.abort(new Error("gone"));
  await left;
  await end("a1");
  expect(names()).toEqual(["a3"]);
});

test.each([
  [2, 0],
  [3, 8],
  [4, 16],
  [6, 32],
  [8, 32],
])("a tenant with %i exports rests for %i ms after a step of 8 ms", async (exports, restMs) => {
  for (let count = 1; count <= exports; count += 1) void step(`a${count}`);
  await vi.advanceTimersByTimeAsync(8);
  await end("a1", Math.max(0, restMs - 1));
  if (restMs > 0) {
    expect(names()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(names()).toEqual(["a2"]);
});
