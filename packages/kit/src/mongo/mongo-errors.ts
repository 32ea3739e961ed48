import {
  MongoBulkWriteError,
  MongoDriverError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from "mongodb";

/**
 * Server codes: not or no longer primary, shutting down, no majority, a network error, or a snapshot
 * read during a change of indexes.
 */
const transientCodes = new Set([6, 7, 64, 89, 91, 112, 189, 202, 246, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Whether MongoDB is unavailable at the moment, so that the same call may succeed later. */
export function isMongoUnavailable(error: unknown): boolean {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return true;
  // The driver does not export the classes of these two.
  if (error instanceof MongoDriverError) return /^Mongo(WaitQueueTimeout|PoolClosed)Error$/.test(error.name);
  if (!(error instanceof MongoServerError)) return false;
  const isTransient = typeof error.code === "number" && transientCodes.has(error.code);
  return isTransient || error.hasErrorLabel("RetryableWriteError") || error.hasErrorLabel("TransientTransactionError");
}

/** Whether a command exceeded its `maxTimeMS` (MaxTimeMSExpired). */
export function isMongoTimeout(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 50;
}

/**
 * Whether a read of a past moment took longer than mongod keeps that moment (SnapshotTooOld): for
 * `minSnapshotHistoryWindowInSeconds`, by default 300.
 */
export function isSnapshotTooOld(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 239;
}

/** Whether a unique index refused a row. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/**
 * Returns which rows of an `insertMany(…, {ordered: false})` a unique index refused, as indexes
 * into its array. Throws the error unchanged when it has any other cause.
 */
export function duplicatePositions(error: unknown): Set<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  if (faults.length === 0 || faults.some(({ code }) => code !== 11000) || error.result.getWriteConcernError())
    throw error;
  return new Set(faults.map(({ index }) => index));
}
