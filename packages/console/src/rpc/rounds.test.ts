import { expect, test } from "vitest";
import { RoundCounter } from "./rounds.ts";

test("calls at the same time are one round, a call after them is another", () => {
  const counter = new RoundCounter();
  counter.begin();
  counter.begin();
  counter.end();
  counter.begin();
  counter.end();
  counter.end();
  expect(counter.rounds).toBe(1);
  counter.begin();
  counter.end();
  expect(counter.rounds).toBe(2);
});
