import type { ClientSession, MongoClient } from "mongodb";

/** Options of reads that all see the database as it was at the first of them. */
export interface SnapshotOptions {
  readonly session: ClientSession;
  /** Without it the client's read concern, majority, would take the place of the session's. */
  readonly readConcern: { readonly level: "snapshot" };
}

/** The caller ends the session. */
export function snapshotOptions(client: MongoClient): SnapshotOptions {
  return { session: client.startSession({ snapshot: true }), readConcern: { level: "snapshot" } };
}
