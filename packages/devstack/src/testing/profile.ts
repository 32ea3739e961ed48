import type { Db, Document, Filter } from "mongodb";

/**
 * What MongoDB does for a database, as its profiler notes it: one entry for each command, but one
 * for each statement of an update or a delete.
 */
interface Profile extends AsyncDisposable {
  /** The entries so far that match, in their order. */
  find(which: Filter<Document>): Promise<Document[]>;
}

/** Holds all entries of a test, even when a fault makes the test send far too many commands. */
const bytesMax = 64 * 1024 * 1024;

/** Profiles a database from now on. Earlier entries are dropped. */
export async function openProfile(db: Db): Promise<Profile> {
  await db.command({ profile: 0 });
  await db.dropCollection("system.profile");
  await db.createCollection("system.profile", { capped: true, size: bytesMax });
  await db.command({ profile: 2 });
  return {
    find: (which) => db.collection("system.profile").find(which).toArray(),
    async [Symbol.asyncDispose]() {
      await db.command({ profile: 0 });
    },
  };
}

export async function profiled<Result>(
  db: Db,
  which: Filter<Document>,
  work: () => Promise<Result>,
): Promise<{ result: Result; entries: Document[] }> {
  await using profile = await openProfile(db);
  const result = await work();
  return { result, entries: await profile.find(which) };
}
