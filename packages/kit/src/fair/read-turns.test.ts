import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReadTurns } from "./read-turns.ts";

const mib = 1024 * 1024;

/** A body that notes whether it flows. */
function body() {
  return {
    flows: true,
    pause() {
      this.flows = false;
    },
    resume() {
      this.flows = true;
    },
  };
}

test("a body flows on while at most 1 MiB is read in each turn of the event loop", async () => {
  const turns = new ReadTurns();
  const small = body();
  for (let count = 0; count < 3; count += 1) {
    turns.count("acme", small, mib);
    expect(small.flows).toBe(true);
    await turn();
  }
});

/** Reads 1 MiB, and then 40 bodies of acme and one of demo in the same turn. */
function readMore() {
  const turns = new ReadTurns();
  turns.count("acme", body(), mib);
  const crowd = Array.from({ length: 40 }, body);
  for (const each of crowd) turns.count("acme", each, 65_536);
  const neighbour = body();
  turns.count("demo", neighbour, 65_536);
  return { crowd, neighbour };
}

test("bodies that are read beyond 1 MiB in a turn pause", () => {
  const { crowd, neighbour } = readMore();
  expect([...crowd, neighbour].some(({ flows }) => flows)).toBe(false);
});

test("a tenant's paused body resumes in the next turn, although 40 of another tenant paused before", async () => {
  const { neighbour } = readMore();
  await turn();
  expect(neighbour.flows).toBe(true);
});

test("at most 16 paused bodies resume in each later turn", async () => {
  const { crowd, neighbour } = readMore();
  await turn();
  expect([...crowd, neighbour].filter(({ flows }) => flows)).toHaveLength(16);
  await turn();
  expect(crowd.filter(({ flows }) => flows)).toHaveLength(31);
  await turn();
  expect(crowd.every(({ flows }) => flows)).toBe(true);
});

test("a paused body is not resumed after `leave`", async () => {
  const turns = new ReadTurns();
  const refused = body();
  turns.count("acme", refused, 2 * mib);
  turns.leave("acme", refused);
  await turn();
  expect(refused.flows).toBe(false);
});
