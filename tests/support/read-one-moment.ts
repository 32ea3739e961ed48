import type { ClientSession, MongoClient } from "mongodb";

/**
 * Runs reads that all see what was committed when the first of them began. mongod keeps that for as
 * long as their transaction lasts, 60 seconds at most.
 */
export async function readOneMoment<T>(client: MongoClient, read: (session: ClientSession) => Promise<T>): Promise<T> {
  await using session = client.startSession();
  return await session.withTransaction(() => read(session), { readConcern: { level: "snapshot" } });
}
