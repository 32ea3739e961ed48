import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Collection, Db } from "mongodb";
import type { ResigningRow, ResigningRun } from "./rows.ts";

/** The work that follows a revocation, claimed. Each claim has a name of its own, which writes match. */
export interface ClaimedResigning {
  readonly claim: string;
  readonly doneKeyIds: readonly string[];
  /** Whether it was ever done to the end. */
  readonly hasFinished: boolean;
  /** Absent when there is none yet. */
  readonly run?: ResigningRun;
}

const id = { _id: "resigning" } as const;

/** Keeps how far the work is that follows a revocation. One process works on it at a time. */
export class ResigningStore {
  readonly #rows: Collection<ResigningRow>;

  constructor(db: Db) {
    this.#rows = db.collection("resigning");
  }

  /** Keys that it is done for; undefined while it is under way, and before the first time. */
  async done(): Promise<string[] | undefined> {
    const row = await this.#rows.findOne({ ...id, hasFinished: true }, { projection: { doneKeyIds: 1, run: 1 } });
    return row && !row.run ? row.doneKeyIds : undefined;
  }

  /** Takes the lease, if nobody has it. */
  async claim(now: Date, until: Date): Promise<ClaimedResigning | undefined> {
    const claim = uuidv7();
    const update = { $set: { holder: claim, leaseUntil: until }, $setOnInsert: { doneKeyIds: [] } };
    try {
      const free = { ...id, leaseUntil: { $lte: now } };
      const row = await this.#rows.findOneAndUpdate(free, update, { upsert: true, returnDocument: "after" });
      if (!row) return undefined;
      const { doneKeyIds, hasFinished = false, run } = row;
      return { claim, doneKeyIds, hasFinished, ...(run ? { run } : {}) };
    } catch (error) {
      // Under a lease the row does not match, and the upsert finds its id taken.
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** Extends the lease. @returns whether this process still had it */
  async renew({ claim }: Pick<ClaimedResigning, "claim">, until: Date): Promise<boolean> {
    const { matchedCount } = await this.#rows.updateOne({ ...id, holder: claim }, { $set: { leaseUntil: until } });
    return matchedCount === 1;
  }

  /** Notes how far it is. @returns false when the lease is another's by now */
  async save({ claim }: Pick<ClaimedResigning, "claim">, run: ResigningRun): Promise<boolean> {
    const { matchedCount } = await this.#rows.updateOne({ ...id, holder: claim }, { $set: { run } });
    return matchedCount === 1;
  }

  /** Ends the work, and the lease. */
  async finish({ claim }: Pick<ClaimedResigning, "claim">, keyIds: readonly string[]): Promise<void> {
    const update = {
      $addToSet: { doneKeyIds: { $each: [...keyIds] } },
      $unset: { run: 1 as const, holder: 1 as const },
      $set: { hasFinished: true as const, leaseUntil: new Date(0) },
    };
    await this.#rows.updateOne({ ...id, holder: claim }, update);
  }

  /** Ends the lease. Another process goes on. */
  async release({ claim }: Pick<ClaimedResigning, "claim">): Promise<void> {
    const update = { $unset: { holder: 1 as const }, $set: { leaseUntil: new Date(0) } };
    await this.#rows.updateOne({ ...id, holder: claim }, update);
  }
}
