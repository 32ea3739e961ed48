import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoExpiredSessionError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
  type TopologyDescription,
} from "mongodb";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import {
  duplicatePositions,
  isDuplicateKey,
  isMongoTimeout,
  isMongoUnavailable,
  isSnapshotTooOld,
} from "./mongo-errors.ts";

/** Errors whose classes the driver does not export. */
const { PoolClearedError, PoolClosedError, WaitQueueTimeoutError } = createRequire(import.meta.url)(
  "mongodb/lib/cmap/errors.js",
) as Record<string, new (...of: unknown[]) => Error>;

const pool = { address: "127.0.0.1:27017", serverError: new MongoNetworkError("connection 4 closed") };
const server = (code: number, errorLabels: string[] = []) => new MongoServerError({ message: "no", code, errorLabels });
const concern = (code: number) => new MongoWriteConcernError({ ok: 1, writeConcernError: { code, errmsg: "no" } });

const unavailable: readonly (readonly [string, Error])[] = [
  ["a closed connection", new MongoNetworkError("connection 4 to 127.0.0.1:27017 closed")],
  ["a connection that timed out", new MongoNetworkTimeoutError("connection 4 timed out")],
  ["a cleared pool", new PoolClearedError!(pool)],
  ["a closed pool", new PoolClosedError!(pool)],
  ["a full pool", new WaitQueueTimeoutError!("timed out", "127.0.0.1:27017")],
  ["no server to select", new MongoServerSelectionError("no primary", {} as TopologyDescription)],
  ["a stale primary", new MongoStalePrimaryError("stale")],
  ["a closed server", new MongoServerClosedError()],
  ["a closed topology", new MongoTopologyClosedError()],
  ["a closed client", new MongoClientClosedError()],
  ["a client that is not connected", new MongoNotConnectedError("not connected")],
  ["a write concern that no majority met", concern(64)],
  ["a write concern that a shutdown interrupted", concern(91)],
  ["a write that may be repeated", server(1, ["RetryableWriteError"])],
  ["a transaction that may be repeated", server(1, ["TransientTransactionError"])],
  ...["EPIPE", "ECONNRESET", "ECONNABORTED", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"].map(
    (code) => [`a socket's ${code}`, Object.assign(new Error("This socket has been ended"), { code })] as const,
  ),
  ...[6, 7, 64, 89, 91, 112, 134, 189, 202, 246, 262, 9001, 10107, 11600, 11602, 13435, 13436].map(
    (code) => [`code ${code}`, server(code)] as const,
  ),
];

const others: readonly (readonly [string, Error])[] = [
  ["a duplicate key", server(11000)],
  ["a failed validation", server(121)],
  ["a refused user", server(18)],
  ["a time limit", server(50)],
  ["a snapshot that is too old", server(239)],
  ["a wrong argument", new MongoInvalidArgumentError("no")],
  ["a session that was used after its end", new MongoExpiredSessionError()],
  ["a bug", new TypeError("x is not a function")],
  ["a file that is missing", Object.assign(new Error("no such file"), { code: "ENOENT" })],
  ["an abort", new Error("the caller left")],
];

/** Wraps an error as the driver does for a failed `insertMany` or `bulkWrite`. */
const inBulk = (error: Error) => new MongoBulkWriteError(error, { getWriteConcernError: () => undefined } as never);

test.each(unavailable)("%s counts as unavailable, alone and in a bulk write", (_, error) => {
  expect(isMongoUnavailable(error)).toBe(true);
  expect(isMongoUnavailable(inBulk(error))).toBe(true);
});

test.each(unavailable)("duplicatePositions rethrows the failure of a bulk write: %s", (_, error) => {
  const failed = inBulk(error);
  expect(() => duplicatePositions(failed)).toThrow(failed);
});

test.each(others)("%s does not count as unavailable, alone or in a bulk write", (_, error) => {
  expect(isMongoUnavailable(error)).toBe(false);
  expect(isMongoUnavailable(inBulk(error))).toBe(false);
});

test.each([
  ["a time limit", 50, isMongoTimeout],
  ["a snapshot that is too old", 239, isSnapshotTooOld],
  ["a duplicate key", 11000, isDuplicateKey],
])("%s is recognised alone and in a bulk write", (_, code, recognises) => {
  expect(recognises(server(code))).toBe(true);
  expect(recognises(inBulk(server(code)))).toBe(true);
});
