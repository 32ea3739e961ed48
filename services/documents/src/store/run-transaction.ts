import { DomainError } from "@vidimus/kit/errors";
import { isDuplicateKey } from "@vidimus/kit/mongo-errors";
import { type ClientSession, type MongoClient, MongoError, MongoServerError } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { AbandonedTransactions } from "./abandoned-transactions.ts";

/** What every transaction reads and promises. */
export const transactionOptions = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority", journal: true },
} as const;

/** How long a transaction may lose against others, and how long the outcome of a commit is asked for. */
const patienceMs = 10_000;

/**
 * Runs `work` in a transaction, again whenever it met another one, after a pause of 1 to 5 ms: the driver's own back-off
 * grows to seconds while the other transaction is done in milliseconds.
 *
 * @throws DomainError `unavailable` after ten seconds of conflicts; whatever `work` throws
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

/** Commits. Until the outcome of a commit is known, nobody may be told anything. */
export async function commit(session: ClientSession): Promise<void> {
  const patientUntil = Date.now() + patienceMs;
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      const isLabelled = error instanceof MongoError && error.hasErrorLabel("UnknownTransactionCommitResult");
      const isUnknown = isLabelled || isInterrupted(error);
      if (!isUnknown || Date.now() > patientUntil) throw error;
    }
  }
}

/**
 * Whether a transaction met another one, and changed nothing. A duplicate key can only be a row that the other one has just
 * inserted: what was read before was free.
 */
export function isConflict(error: unknown): boolean {
  if (isDuplicateKey(error) || isInterrupted(error)) return true;
  return error instanceof MongoError && error.hasErrorLabel("TransientTransactionError");
}

/** Somebody took this process for dead just as it went on. */
function isInterrupted(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11601;
}

function busy(cause: unknown): DomainError {
  return new DomainError("unavailable", "too many changes of the same document at once; try again", { cause });
}
