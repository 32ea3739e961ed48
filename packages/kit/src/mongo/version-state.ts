import type { Collection, Db } from "mongodb";
import { ConfigError } from "../env.ts";

/** The newest version that the database was prepared for, and how far its migration got. */
export interface VersionState {
  readonly version: number;
  /** `rewriting` lasts from the start of a rewrite until its end, also across interruptions. */
  readonly phase: "prepared" | "rewriting" | "rewritten";
}

/** The only row of the collection `database_version`, and the first row that a database gets. */
interface VersionRow extends VersionState {
  readonly _id: "current";
}

/**
 * Told to the operator when a database has collections but no version, or a version below the
 * `base` of the code, from which no step leads to the code's version.
 */
export const startOver = "is of an earlier build, and nothing was released yet: start over with `npm start -- --fresh`";

export class VersionStates {
  readonly #db: Db;
  readonly #rows: Collection<VersionRow>;

  constructor(db: Db) {
    this.#db = db;
    this.#rows = db.collection("database_version");
  }

  /**
   * Undefined for a new database, which has neither a state nor other collections.
   *
   * @throws ConfigError when the database has collections but no state: an earlier build made it
   */
  async read(): Promise<VersionState | undefined> {
    // The collections are listed before the state is read: a process that founds the database
    // writes the state before it makes any other collection, so collections without a state are of
    // an earlier build.
    const collections = await this.#db.listCollections({}, { nameOnly: true }).toArray();
    const state = await this.#rows.findOne({ _id: "current" }, { projection: { _id: 0 }, maxTimeMS: 5_000 });
    if (state) return state;
    const isNew = collections.every(({ name }) => name === this.#rows.collectionName || name.startsWith("system."));
    if (isNew) return undefined;
    throw new ConfigError(`database ${this.#db.databaseName} ${startOver}`);
  }

  /**
   * Notes the version of a new database. When several processes do so at once, the first one wins.
   */
  async found(version: number): Promise<VersionState> {
    const first = { version, phase: "rewritten" } as const;
    await this.#rows.updateOne({ _id: "current" }, { $setOnInsert: first }, { upsert: true });
    return (await this.read()) ?? first;
  }

  /**
   * Notes that a state was reached. Returns the database's state, which another process may have
   * advanced further.
   */
  async advance(from: VersionState, to: VersionState): Promise<VersionState> {
    const { matchedCount } = await this.#rows.updateOne({ _id: "current", ...from }, { $set: to });
    return matchedCount === 1 ? to : ((await this.read()) ?? to);
  }
}
