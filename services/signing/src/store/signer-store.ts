import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db } from "mongodb";
import type { Signers } from "../domain/ring-watch.ts";

interface SignerRow {
  /** Id of the process. */
  _id: string;
  /** By the database's clock, which all processes share. */
  seenAt: Date;
  kekIds: readonly string[];
}

const aliveMs = 10_000;
const keptSeconds = 3_600;
const isAlive = { $gt: ["$seenAt", { $subtract: ["$$NOW", aliveMs] }] };

/**
 * Keeps which processes sign. While one signs, a process with signing off does not pause signing.
 */
export class SignerStore implements Signers {
  static readonly indexes = {
    signers: { expiry: { key: { seenAt: 1 }, expireAfterSeconds: keptSeconds } },
  } as const satisfies DatabaseIndexes;
  readonly #db: Db;
  readonly #rows: Collection<SignerRow>;
  readonly #id: string;
  readonly #kekIds: readonly string[];

  constructor(db: Db, id: string, kekIds: readonly string[]) {
    this.#db = db;
    this.#rows = db.collection("signers");
    this.#id = id;
    this.#kekIds = kekIds;
  }

  async report(): Promise<Date> {
    const change = { $currentDate: { seenAt: true }, $set: { kekIds: this.#kekIds } } as const;
    const options = { upsert: true, returnDocument: "after" } as const;
    const row = await this.#rows.findOneAndUpdate({ _id: this.#id }, change, options);
    if (!row) throw new TypeError("the row of this process was written and is not there");
    return row.seenAt;
  }

  async databaseTime(): Promise<Date> {
    const { localTime } = await this.#db.command({ hello: 1 });
    return localTime as Date;
  }

  async leave(): Promise<void> {
    await this.#rows.deleteOne({ _id: this.#id });
  }

  async anyAlive(): Promise<boolean> {
    return (await this.#rows.findOne({ $expr: isAlive }, { maxTimeMS: 5_000 })) !== null;
  }

  /**
   * Number of processes that reported in the last ten seconds and do not hold the KEK with this id.
   */
  async countWithout(kekId: string): Promise<number> {
    return this.#rows.countDocuments({ $expr: isAlive, kekIds: { $ne: kekId } }, { maxTimeMS: 5_000 });
  }
}
