import type { Collection, Db } from "mongodb";
import { ConfigError } from "../env.ts";

/** Where a database stands. */
export interface SchemaState {
  readonly version: number;
  /** `rewriting` from the start of a rewrite until its end, however often it was interrupted. */
  readonly phase: "prepared" | "rewriting" | "rewritten";
}

/** `schema`: one row, the first that is written to a database. */
interface SchemaRow extends SchemaState {
  readonly _id: "schema";
}

/** What helps when rows are not those of the code and no step leads to them. */
export const startOver = "is of an earlier build, and nothing was released yet: start over with `npm start -- --fresh`";

/** Reads and moves the row that says where a database stands. */
export class SchemaStates {
  readonly #db: Db;
  readonly #rows: Collection<SchemaRow>;

  constructor(db: Db) {
    this.#db = db;
    this.#rows = db.collection("schema");
  }

  /**
   * Undefined for a new database.
   *
   * @throws ConfigError when the database has rows but no state: an earlier build made it
   */
  async read(): Promise<SchemaState | undefined> {
    // In this order: the state of a new database is there before its first other collection.
    const collections = await this.#db.listCollections({}, { nameOnly: true }).toArray();
    const state = await this.#rows.findOne({ _id: "schema" }, { projection: { _id: 0 }, maxTimeMS: 5_000 });
    if (state) return state;
    const isNew = collections.every(({ name }) => name === this.#rows.collectionName || name.startsWith("system."));
    if (isNew) return undefined;
    throw new ConfigError(`database ${this.#db.databaseName} ${startOver}`);
  }

  /** Brings a new database to a version. Of several processes that do so at once one is heard. */
  async found(version: number): Promise<SchemaState> {
    const first = { version, phase: "rewritten" } as const;
    await this.#rows.updateOne({ _id: "schema" }, { $setOnInsert: first }, { upsert: true });
    return (await this.read()) ?? first;
  }

  /** Notes that a state was reached, and answers where the database stands: another may have been faster. */
  async advance(from: SchemaState, to: SchemaState): Promise<SchemaState> {
    const { matchedCount } = await this.#rows.updateOne({ _id: "schema", ...from }, { $set: to });
    return matchedCount === 1 ? to : ((await this.read()) ?? to);
  }
}
