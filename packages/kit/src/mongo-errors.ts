import {
  MongoBulkWriteError,
  MongoDriverError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from "mongodb";

/** Codes by which a server says that it is not, or no longer, the primary, shutting down, or short of a majority. */
const passingCodes = new Set([6, 7, 64, 89, 91, 112, 189, 202, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Whether an error says that MongoDB cannot be used right now, so that the same call may go through later. */
export function isMongoUnavailable(error: unknown): boolean {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return true;
  // The driver does not export these two.
  if (error instanceof MongoDriverError) return /^Mongo(WaitQueueTimeout|PoolClosed)Error$/.test(error.name);
  if (!(error instanceof MongoServerError)) return false;
  const passing = typeof error.code === "number" && passingCodes.has(error.code);
  return passing || error.hasErrorLabel("RetryableWriteError") || error.hasErrorLabel("TransientTransactionError");
}

/** Whether an error says that a unique index refused a row. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Positions, in the order given to `insertMany(…, {ordered: false})`, that a unique index refused; any other fault is thrown. */
export function duplicatePositions(error: unknown): Set<number> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  if (faults.length === 0 || faults.some(({ code }) => code !== 11000) || error.result.getWriteConcernError())
    throw error;
  return new Set(faults.map(({ index }) => index));
}
