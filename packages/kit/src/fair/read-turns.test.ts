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

test("bodies beyond 1 MiB pause; 16 resume in each later turn, and tenants alternate", async () => {
  const turns = new ReadTurns();
  turns.count("acme", body(), mib);
  const crowd = Array.from({ length: 40 }, body);
  for (const each of crowd) turns.count("acme", each, 65_536);
  const neighbour = body();
  turns.count("demo", neighbour, 65_536);
  expect([...crowd, neighbour].some(({ flows }) => flows)).toBe(false);
  await turn();
  expect(neighbour.flows).toBe(true);
  expect(crowd.filter(({ flows }) => flows)).toHaveLength(15);
  await turn();
  expect(crowd.filter(({ flows }) => flows)).toHaveLength(31);
  await turn();
  expect(crowd.every(({ flows }) => flows)).toBe(true);
});

test("a paused body that was removed is not resumed", async () => {
  const turns = new ReadTurns();
  const refused = body();
  turns.count("acme", refused, 2 * mib);
  turns.leave("acme", refused);
  await turn();
  expect(refused.flows).toBe(false);
});
