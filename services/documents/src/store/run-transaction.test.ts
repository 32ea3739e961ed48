import { type ClientSession, MongoServerError, MongoServerSelectionError, type TopologyDescription } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { commit } from "./run-transaction.ts";

/** A session whose commits fail with these errors, one after the other, and then succeed. */
function failingWith(...errors: Error[]) {
  const commitTransaction = vi.fn(async () => {
    const error = errors.shift();
    if (error) throw error;
  });
  return { session: { commitTransaction } as unknown as ClientSession, commitTransaction };
}

const noPrimary = new MongoServerSelectionError("no primary", {} as unknown as TopologyDescription);

test("a commit that twice finds no primary succeeds at its third attempt", async () => {
  const { session, commitTransaction } = failingWith(noPrimary, noPrimary);
  await commit(session);
  expect(commitTransaction).toHaveBeenCalledTimes(3);
});

test("a commit that fails at once is repeated at most ten times in 100 ms", async () => {
  const interrupted = new MongoServerError({ code: 11601, message: "interrupted" });
  const { session, commitTransaction } = failingWith(...Array.from({ length: 1_000 }, () => interrupted));
  const committing = commit(session);
  await pause(100);
  expect(commitTransaction.mock.calls.length).toBeLessThanOrEqual(11);
  commitTransaction.mockResolvedValue();
  await committing;
});

test("a commit that was refused is not repeated", async () => {
  const refused = new MongoServerError({ code: 112, message: "write conflict" });
  const { session, commitTransaction } = failingWith(refused);
  await expect(commit(session)).rejects.toBe(refused);
  expect(commitTransaction).toHaveBeenCalledTimes(1);
});
