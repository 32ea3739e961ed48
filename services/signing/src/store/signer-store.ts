import type { Collection, Db } from "mongodb";
import type { Signers } from "../domain/ring-watch.ts";

interface SignerRow {
  /** Id of the process. */
  _id: string;
  /** By the clock of the database, which all processes share. */
  seenAt: Date;
}

const aliveMs = 10_000;
const keptSeconds = 3_600;

/** Which processes sign. While there is one, a process with signing off does not pause the ring. */
export class SignerStore implements Signers {
  readonly #rows: Collection<SignerRow>;
  readonly #id: string;

  /** @param id of this process */
  constructor(db: Db, id: string) {
    this.#rows = db.collection("signers");
    this.#id = id;
  }

  async ensureIndexes(): Promise<void> {
    await this.#rows.createIndex({ seenAt: 1 }, { expireAfterSeconds: keptSeconds });
  }

  async report(): Promise<void> {
    await this.#rows.updateOne({ _id: this.#id }, { $currentDate: { seenAt: true } }, { upsert: true });
  }

  async leave(): Promise<void> {
    await this.#rows.deleteOne({ _id: this.#id });
  }

  async anyAlive(): Promise<boolean> {
    const isAlive = { $gt: ["$seenAt", { $subtract: ["$$NOW", aliveMs] }] };
    return (await this.#rows.findOne({ $expr: isAlive }, { maxTimeMS: 5_000 })) !== null;
  }
}
