import { expect, test } from "vitest";
import { RoundCounter } from "./rounds.ts";

test("calls that overlap are one round, and a call after all of them, answered or failed, is the next", async () => {
  const counter = new RoundCounter();
  const [first, second, third] = [1, 2, 3].map(() => Promise.withResolvers<string>());
  const calls = [first, second].map((answer) => counter.count(() => answer!.promise));
  first!.resolve("first");
  await calls[0];
  const failing = counter.count(() => third!.promise);
  expect(counter.rounds).toBe(1);
  second!.resolve("second");
  third!.reject(new Error("down"));
  expect(await Promise.all(calls)).toEqual(["first", "second"]);
  await expect(failing).rejects.toThrow("down");
  await counter.count(() => Promise.resolve());
  expect(counter.rounds).toBe(2);
});
