import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Collection, Db } from "mongodb";
import type { ResigningRow, ResigningRun } from "./rows.ts";

/** The claimed work after a revocation. Each claim has its own id, which writes match. */
export interface ClaimedResigning {
  readonly claim: string;
  readonly doneKeyIds: readonly string[];
  /** Whether the work was ever completed. */
  readonly hasFinished: boolean;
  /** How far the unfinished run has come; absent when there is none. */
  readonly run?: ResigningRun;
}

const id = { _id: "resigning" } as const;

/** Keeps the progress of the work after a revocation. One process works on it at a time. */
export class ResigningStore {
  readonly #rows: Collection<ResigningRow>;

  constructor(db: Db) {
    this.#rows = db.collection("resigning");
  }

  /** Keys for which the work is done; undefined while it runs, and before it was first done. */
  async done(): Promise<string[] | undefined> {
    const row = await this.#rows.findOne({ ...id, hasFinished: true }, { projection: { doneKeyIds: 1, run: 1 } });
    return row && !row.run ? row.doneKeyIds : undefined;
  }

  /** Takes the lease, unless another process has it. */
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
      // Under another lease the row does not match, and the upsert fails with a duplicate id.
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** @returns whether this process still had the lease */
  async renew({ claim }: Pick<ClaimedResigning, "claim">, until: Date): Promise<boolean> {
    const { matchedCount } = await this.#rows.updateOne({ ...id, holder: claim }, { $set: { leaseUntil: until } });
    return matchedCount === 1;
  }

  /** @returns false when another process has the lease */
  async save({ claim }: Pick<ClaimedResigning, "claim">, run: ResigningRun): Promise<boolean> {
    const { matchedCount } = await this.#rows.updateOne({ ...id, holder: claim }, { $set: { run } });
    return matchedCount === 1;
  }

  /** Notes that the work is done, and ends the lease. */
  async finish({ claim }: Pick<ClaimedResigning, "claim">, keyIds: readonly string[]): Promise<void> {
    const update = {
      $addToSet: { doneKeyIds: { $each: [...keyIds] } },
      $unset: { run: 1 as const, holder: 1 as const },
      $set: { hasFinished: true as const, leaseUntil: new Date(0) },
    };
    await this.#rows.updateOne({ ...id, holder: claim }, update);
  }

  /** Ends the lease, so that another process can continue. */
  async release({ claim }: Pick<ClaimedResigning, "claim">): Promise<void> {
    const update = { $unset: { holder: 1 as const }, $set: { leaseUntil: new Date(0) } };
    await this.#rows.updateOne({ ...id, holder: claim }, update);
  }
}
