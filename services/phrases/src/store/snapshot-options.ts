import type { ClientSession, MongoClient } from "mongodb";

/** Options with which all reads of a session see the database as of the first read. */
export interface SnapshotOptions {
  readonly session: ClientSession;
  /** Without it the client's read concern, majority, would override the session's. */
  readonly readConcern: { readonly level: "snapshot" };
}

/** The caller ends the session. */
export function snapshotOptions(client: MongoClient): SnapshotOptions {
  return { session: client.startSession({ snapshot: true }), readConcern: { level: "snapshot" } };
}
