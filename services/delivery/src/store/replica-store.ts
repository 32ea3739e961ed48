import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db } from "mongodb";
import type { ReplicaRow } from "./rows.ts";

/**
 * Keeps which processes of delivery run. Ages are measured by MongoDB's clock, so clocks of
 * processes may differ.
 */
export class ReplicaStore {
  static readonly indexes = {
    // The row of a killed process expires after a day.
    replicas: { expiry: { key: { seenAt: 1 }, expireAfterSeconds: 24 * 60 * 60 } },
  } as const satisfies DatabaseIndexes;
  readonly #replicas: Collection<ReplicaRow>;

  readonly #kekIds: readonly string[];

  /** @param kekIds ids of the KEKs that this process holds */
  constructor(db: Db, kekIds: readonly string[] = []) {
    this.#replicas = db.collection("replicas");
    this.#kekIds = kekIds;
  }

  /**
   * Reports that a process runs, and removes the rows of processes that had its address before:
   * they have ended, because a port has one owner.
   */
  async join(replica: string, address: string | undefined): Promise<void> {
    if (address === undefined) return this.beat(replica);
    await this.#replicas.deleteMany({ address });
    await this.#replicas.updateOne({ _id: replica }, [{ $set: { ...this.#seen, address } }], { upsert: true });
  }

  /** Reports that a process still runs. */
  async beat(replica: string): Promise<void> {
    await this.#replicas.updateOne({ _id: replica }, [{ $set: this.#seen }], { upsert: true });
  }

  /** Ids of the processes that were seen within `freshMs`, sorted. */
  async fresh(freshMs: number): Promise<string[]> {
    const found = await this.#replicas.find(isFresh(freshMs), { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id).sort();
  }

  /** Whether every process that was seen within `freshMs` holds the KEK with this id. */
  async allHold(kekId: string, freshMs: number): Promise<boolean> {
    return (await this.#replicas.findOne({ ...isFresh(freshMs), kekIds: { $ne: kekId } })) === null;
  }

  async delete(replica: string): Promise<void> {
    await this.#replicas.deleteOne({ _id: replica });
  }

  get #seen() {
    return { seenAt: "$$NOW", kekIds: [...this.#kekIds] };
  }
}

function isFresh(freshMs: number) {
  return { $expr: { $gte: ["$seenAt", { $subtract: ["$$NOW", freshMs] }] } };
}
