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
const transientCodes = new Set([
  6, 7, 64, 89, 91, 112, 134, 189, 202, 246, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);

/** Names of the driver's errors about a pool, a server or a client that is full or closed. Two classes are not exported. */
const closedOrFull: ReadonlySet<string> = new Set([
  "MongoWaitQueueTimeoutError",
  "MongoPoolClosedError",
  "MongoStalePrimaryError",
  "MongoServerClosedError",
  "MongoTopologyClosedError",
  "MongoClientClosedError",
  "MongoNotConnectedError",
]);

/** Failures of a socket that the driver passes on as they are when its write buffer is full. */
const socketFailures: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Whether MongoDB is unavailable at the moment, so that the same call may succeed later. */
export function isMongoUnavailable(failure: unknown): boolean {
  const error = unwrapped(failure);
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return true;
  if (error instanceof MongoDriverError) return closedOrFull.has(error.name);
  if (!(error instanceof MongoServerError)) return isSocketFailure(error);
  const isTransient = typeof error.code === "number" && transientCodes.has(error.code);
  return isTransient || error.hasErrorLabel("RetryableWriteError") || error.hasErrorLabel("TransientTransactionError");
}

function isSocketFailure(error: unknown): boolean {
  return error instanceof Error && "code" in error && socketFailures.has(error.code);
}

/**
 * The failure that ended a bulk write. The driver makes a server's error of any failure there, a
 * closed connection too, and keeps that one as its response.
 */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const inner: unknown = error.errorResponse;
  return inner instanceof Error ? inner : error;
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
