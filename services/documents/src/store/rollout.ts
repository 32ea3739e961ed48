import type { Collection, Db } from "mongodb";

/** A version of the database that processes of version 2 can still work with: rows are as before. */
export const preparedVersion = 3;

/** The version from which on no row is as version 2 wrote it. */
export const rowsVersion = 4;

/**
 * As `rowsVersion`, with the indexes of version 5, which list snapshots, those that list documents,
 * and that of named requests. Processes of versions 4 and 5 go on beside it.
 */
export const schemaVersion = 6;

/** Most milliseconds between two looks at the database while processes of version 2 may run. */
export const lookAgainMs = 5_000;

/** `migrations`: one row for every version that the database has been brought to. */
interface MigrationRow {
  _id: number;
  at: Date;
  /**
   * Set while the rows of a version are still being rewritten: no process writes older ones any
   * more.
   */
  unfinished?: true;
}

/** To which version the database has been brought, and how rows are to be written meanwhile. */
export class Rollout {
  readonly #migrations: Collection<MigrationRow>;
  #hasVersion2 = true;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(db: Db) {
    this.#migrations = db.collection("migrations");
  }

  /**
   * Whether processes of version 2 may be running, so that rows have to be written as they read
   * them. Asked again after 5 s, and never again once it is over.
   */
  async hasVersion2(): Promise<boolean> {
    if (this.#hasVersion2 && performance.now() - this.#askedMs > lookAgainMs) {
      const askedMs = performance.now();
      this.#hasVersion2 = (await this.#migrations.countDocuments({ _id: { $gte: rowsVersion } })) === 0;
      this.#askedMs = askedMs;
    }
    return this.#hasVersion2;
  }

  /** The newest version that was reached; 0 for a new database. */
  async version(): Promise<number> {
    const newest = await this.#migrations.findOne({ unfinished: { $exists: false } }, { sort: { _id: -1 } });
    return newest?._id ?? 0;
  }

  /** Notes that a version was reached. */
  async reach(version: number): Promise<void> {
    const update = [{ $set: { at: { $ifNull: ["$at", "$$NOW"] } } }, { $unset: "unfinished" }];
    await this.#migrations.updateOne({ _id: version }, update, { upsert: true });
  }

  /**
   * Ends the time of version 2: processes write rows of `rowsVersion` from now on. Each looks at
   * most 5 s later, so whoever rewrites the old rows has to wait.
   *
   * @returns how many milliseconds ago it ended
   */
  async endVersion2(): Promise<number> {
    const begin = [{ $set: { at: { $ifNull: ["$at", "$$NOW"] }, unfinished: { $ifNull: ["$unfinished", true] } } }];
    await this.#migrations.updateOne({ _id: rowsVersion }, begin, { upsert: true });
    const age = { $project: { ms: { $subtract: ["$$NOW", "$at"] } } };
    const [ended] = await this.#migrations.aggregate([{ $match: { _id: rowsVersion } }, age]).toArray();
    return Number(ended?.["ms"] ?? 0);
  }
}
