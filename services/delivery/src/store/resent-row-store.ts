import type { Collection } from "mongodb";
import { type Delivery, type Lane, laneKey } from "../domain/delivery.ts";
import type { StoredState } from "../domain/delivery-log.ts";
import { keptMs } from "./delivery-rows.ts";
import { bearerFields } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

type Sequenced = Lane & Pick<Delivery, "deliveryId" | "sequence">;

export interface DeliveryFate {
  readonly state: StoredState;
  /** Webhook id of the last recorded attempt; without attempts, the id that was stored at first. */
  readonly webhookId: string;
}

/** Reads and ends rows of `deliveries` for snapshots that are sent again. */
export class ResentRowStore {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /** From delivery id to fate; deliveries that are not stored are left out. */
  async fates(deliveryIds: readonly string[]): Promise<Map<string, DeliveryFate>> {
    if (deliveryIds.length === 0) return new Map();
    const options = { projection: { state: 1, webhookId: 1 } };
    const found = await this.#rows.find({ _id: { $in: [...deliveryIds] } }, options).toArray();
    return new Map(found.map(({ _id, state, webhookId }) => [_id, { state, webhookId }]));
  }

  /**
   * Ends those of the rows that are undelivered and whose lane has a newer snapshot. Such a lane
   * may then lack a bearer.
   *
   * @param rows of one tenant
   * @returns the rows with a newer snapshot in their lane, also rows that had ended before
   */
  async endOutrun<Row extends Sequenced>(rows: readonly Row[], now: Date): Promise<Row[]> {
    const newest = await this.#newestSequences(rows);
    const outrun = rows.filter((row) => (newest.get(laneKey(row)) ?? 0) > row.sequence);
    if (outrun.length === 0) return outrun;
    await this.#rows.updateMany(
      { _id: { $in: outrun.map(({ deliveryId }) => deliveryId) }, state: "pending" },
      {
        $set: { state: "superseded", endedAt: now, expiresAt: new Date(now.getTime() + keptMs) },
        $unset: bearerFields,
        $inc: { generation: 1 },
      },
    );
    return outrun;
  }

  async #newestSequences(rows: readonly Sequenced[]): Promise<Map<string, number>> {
    const [first] = rows;
    if (!first) return new Map();
    const documentId = { $in: [...new Set(rows.map((row) => row.documentId))] };
    const pipeline = [
      { $match: { tenantId: first.tenantId, documentId } },
      { $group: { _id: { documentId: "$documentId", endpointId: "$endpointId" }, sequence: { $max: "$sequence" } } },
    ];
    const found = await this.#rows
      .aggregate<{ _id: Pick<Lane, "documentId" | "endpointId">; sequence: number }>(pipeline)
      .toArray();
    return new Map(found.map(({ _id, sequence }) => [laneKey({ tenantId: first.tenantId, ..._id }), sequence]));
  }
}
