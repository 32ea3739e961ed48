import { type ClientSession, type MongoClient, Timestamp } from "mongodb";
import type { Moment } from "../domain/published-reads/tenant-clock.ts";

/**
 * A session whose reads see all that had been committed at a moment. Without one a majority read
 * may go back in time over a failover: the next primary serves what it knows a majority to hold,
 * and may not have heard yet of the last commits its predecessor showed. The server waits for them;
 * the session costs no message.
 */
export function sessionAt(client: MongoClient, moment?: Moment): ClientSession {
  const session = client.startSession({ causalConsistency: true });
  if (moment !== undefined) session.advanceOperationTime(new Timestamp(moment));
  return session;
}

/** The moment a session has come to. */
export function momentOf({ operationTime }: ClientSession): Moment | undefined {
  return operationTime?.toBigInt();
}
