import {
  MongoBulkWriteError,
  MongoDriverError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from "mongodb";

/**
 * Server codes: not or no longer primary, shutting down, no majority, a network error, an internal
 * time limit, a write conflict, or a snapshot read during a change of indexes.
 */
const transientCodes = new Set([
  6, 7, 64, 89, 91, 112, 134, 189, 202, 246, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);

/**
 * Errors of the driver about a full or closed pool, a stale primary, or a closed server, topology
 * or client, by name because two of the classes are not exported.
 */
const closedOrFull: ReadonlySet<string> = new Set([
  "MongoWaitQueueTimeoutError",
  "MongoPoolClosedError",
  "MongoStalePrimaryError",
  "MongoServerClosedError",
  "MongoTopologyClosedError",
  "MongoClientClosedError",
  "MongoNotConnectedError",
]);

/** Codes of socket errors, which the driver does not wrap when its write buffer is full. */
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
 * The cause of a failed bulk write. The driver wraps every failure, also a closed connection, in a
 * `MongoBulkWriteError`, whose `errorResponse` is the cause.
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
 * Whether a read of a past moment came after mongod dropped that moment (SnapshotTooOld). mongod
 * keeps moments for `minSnapshotHistoryWindowInSeconds`, 300 s by default.
 */
export function isSnapshotTooOld(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 239;
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/**
 * Returns which operations of a bulk write (`insertMany`, `bulkWrite`) a unique index refused, as
 * indexes into the array of operations. Throws the error unchanged when it has any other cause.
 */
export function duplicatePositions(error: unknown): Set<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  if (faults.length === 0 || faults.some(({ code }) => code !== 11000) || error.result.getWriteConcernError())
    throw error;
  return new Set(faults.map(({ index }) => index));
}
