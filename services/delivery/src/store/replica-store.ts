import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db } from "mongodb";
import type { ReplicaRow } from "./rows.ts";

/** Keeps which processes of delivery run. Ages are by MongoDB's clock, so that clocks may differ. */
export class ReplicaStore {
  static readonly indexes = {
    // The row of a process that was killed ends after a day.
    replicas: { expiry: { key: { seenAt: 1 }, expireAfterSeconds: 24 * 60 * 60 } },
  } as const satisfies DatabaseIndexes;
  readonly #replicas: Collection<ReplicaRow>;

  constructor(db: Db) {
    this.#replicas = db.collection("replicas");
  }

  /**
   * Says that a process runs, and forgets those that had its address before: they have ended,
   * because a port has one owner.
   */
  async join(replica: string, address: string | undefined): Promise<void> {
    if (address === undefined) return this.beat(replica);
    await this.#replicas.deleteMany({ address });
    await this.#replicas.updateOne({ _id: replica }, [{ $set: { seenAt: "$$NOW", address } }], { upsert: true });
  }

  /** Says that a process still runs. */
  async beat(replica: string): Promise<void> {
    await this.#replicas.updateOne({ _id: replica }, [{ $set: { seenAt: "$$NOW" } }], { upsert: true });
  }

  /** The processes that were seen within `freshMs`. */
  async fresh(freshMs: number): Promise<string[]> {
    const isFresh = { $expr: { $gte: ["$seenAt", { $subtract: ["$$NOW", freshMs] }] } };
    const found = await this.#replicas.find(isFresh, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id).sort();
  }

  async delete(replica: string): Promise<void> {
    await this.#replicas.deleteOne({ _id: replica });
  }
}
