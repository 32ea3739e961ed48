import { DomainError } from "@vidimus/kit/errors";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { type ClientSession, type MongoClient, MongoError, MongoServerError, MongoServerSelectionError } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { AbandonedTransactions } from "./abandoned-transactions.ts";

export const transactionOptions = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority", journal: true },
} as const;

const patienceMs = 10_000;
const commitPauseMs = 20;

/**
 * Runs `work` in a transaction. Repeats it after a conflict and a pause of 1 to 5 ms, because the
 * other transaction ends in milliseconds, while the driver's own back-off grows to half a second.
 *
 * @throws DomainError `unavailable` after ten seconds of conflicts; errors of `work`
 */
export async function runTransaction<T>(
  client: MongoClient,
  abandoned: Pick<AbandonedTransactions, "end">,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const patientUntil = Date.now() + patienceMs;
  for (;;) {
    try {
      return await attempt(client, work);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (Date.now() > patientUntil) throw busy(error);
      await abandoned.end();
      await pause(1 + Math.random() * 4);
    }
  }
}

async function attempt<T>(client: MongoClient, work: (session: ClientSession) => Promise<T>): Promise<T> {
  await using session = client.startSession();
  session.startTransaction(transactionOptions);
  const result = await work(session);
  await commit(session);
  return result;
}

/**
 * Commits, and repeats the commit for 10 s while its outcome is unknown, because the caller can
 * then be told neither success nor failure. Repeating a commit that succeeded changes nothing.
 */
export async function commit(session: ClientSession): Promise<void> {
  const patientUntil = Date.now() + patienceMs;
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isOutcomeUnknown(error) || Date.now() > patientUntil) throw error;
      await pause(commitPauseMs);
    }
  }
}

/**
 * The driver repeats a commit only once, and does not label the error of a repetition that found no
 * primary. So that error is known by its class.
 */
function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof MongoServerSelectionError || isInterrupted(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel("UnknownTransactionCommitResult");
}

/**
 * Whether a transaction changed nothing and may be repeated, for example after a conflict. A
 * duplicate key is a conflict, too: another transaction has inserted a row with this key, and a
 * repetition can read that row.
 */
export function isConflict(error: unknown): boolean {
  if (isDuplicateKey(error) || isInterrupted(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel("TransientTransactionError");
}

/** Whether another process ended the session during a statement (`AbandonedTransactions`). */
function isInterrupted(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11601;
}

function busy(cause: unknown): DomainError {
  return new DomainError("unavailable", "too many changes of the same document at once; try again", { cause });
}
