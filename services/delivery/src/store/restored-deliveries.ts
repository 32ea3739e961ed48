import type { Collection } from "mongodb";
import type { Reference } from "../domain/payload.ts";
import { keptMs } from "./delivery-rows.ts";
import { bearerFields } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

const undelivered = { state: "pending" as const };
/** A notice has no document, and a time in place of a sequence. */
const ofDocuments = { notice: { $exists: false } };

/** Reads and ends deliveries of a restored database. No delivery process may run meanwhile. */
export class RestoredDeliveries {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /** The highest sequence of any document; 0 without rows. Reads every row. */
  async highestSequence(): Promise<number> {
    const pipeline = [{ $match: ofDocuments }, { $group: { _id: null, highest: { $max: "$sequence" } } }];
    const [found] = await this.#rows.aggregate<{ highest: number }>(pipeline).toArray();
    return found?.highest ?? 0;
  }

  /** The tenants, documents and sequences of undelivered snapshots, each once. */
  async *undelivered(): AsyncGenerator<Reference> {
    const key = { tenantId: "$tenantId", documentId: "$documentId", sequence: "$sequence" };
    const pipeline = [{ $match: { ...undelivered, ...ofDocuments } }, { $group: { _id: key } }];
    const found = this.#rows.aggregate<{ _id: Reference }>(pipeline, { allowDiskUse: true });
    for await (const { _id } of found) yield _id;
  }

  /**
   * Gives up the undelivered rows of a snapshot that documents has lost: its body can no longer be
   * made, and its rows would block every newer snapshot of its document. The next row of each lane
   * becomes the lane's bearer when a process of delivery starts.
   *
   * @returns the number of rows
   */
  async giveUp({ tenantId, documentId, sequence }: Reference, now: Date): Promise<number> {
    const { modifiedCount } = await this.#rows.updateMany(
      { tenantId, documentId, sequence, ...undelivered },
      {
        $set: { state: "exhausted", endedAt: now, expiresAt: new Date(now.getTime() + keptMs) },
        $unset: bearerFields,
        $inc: { generation: 1 },
      },
    );
    return modifiedCount;
  }
}
