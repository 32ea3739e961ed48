import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BeginTurns } from "./begin-turns.ts";

let turns: BeginTurns;
let begun: string[];
let nowMs: number;

beforeEach(() => {
  turns = new BeginTurns();
  begun = [];
  nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function take(name: string, ahead?: number): Promise<void> {
  await turns.take(name, ahead);
  begun.push(name);
}

const takeMany = (name: string, count: number, ahead?: number) =>
  Array.from({ length: count }, () => take(name, ahead));
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function workFor(ms: number): void {
  nowMs += ms;
}

test("500 requests that come together begin at once", async () => {
  const all = Promise.all(takeMany("acme", 500));
  await Promise.resolve();
  expect(begun).toHaveLength(500);
  await all;
});

test("a request that comes after 5 ms of work in a turn waits for a later turn", async () => {
  await take("acme");
  workFor(5);
  const late = take("acme");
  await Promise.resolve();
  expect(begun).toHaveLength(1);
  await late;
  expect(begun).toHaveLength(2);
});

/** Uses up a turn, after which 40 requests of acme and one of rival are left over. */
function leaveOver(): Promise<unknown> {
  const first = take("acme");
  workFor(5);
  return Promise.all([first, ...takeMany("acme", 40), take("rival")]);
}

test("a tenant's waiting request begins second in the next turn, although 40 of another came before", async () => {
  const all = leaveOver();
  await nextTurn();
  expect(begun.slice(0, 3)).toEqual(["acme", "acme", "rival"]);
  await all;
});

test("of 41 waiting requests 16 begin in each of the next two turns", async () => {
  const all = leaveOver();
  await nextTurn();
  expect(begun).toHaveLength(1 + 16);
  await nextTurn();
  expect(begun).toHaveLength(1 + 32);
  await all;
  expect(begun).toHaveLength(42);
});

describe("of requests that announce later work as costly as 8 requests, two begin in a turn", () => {
  async function countByTurn(count: number): Promise<number[]> {
    const all = takeMany("acme", count, 8);
    const before = begun.length;
    await Promise.resolve();
    const counts = [begun.length - before];
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      counts.push(begun.length - before);
    }
    await Promise.all(all);
    return counts;
  }

  test("when they come in a turn in which nothing has begun", async () => {
    expect(await countByTurn(6)).toEqual([2, 4, 6, 6]);
  });

  test("in later turns only, when they come after the time of their turn is used up", async () => {
    await take("acme");
    workFor(5);
    expect(await countByTurn(5)).toEqual([0, 2, 4, 5]);
  });
});
