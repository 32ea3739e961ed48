import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { Delivery, Lane } from "../domain/delivery.ts";
import { deliveryIndexes, laneFilter } from "./delivery-indexes.ts";
import { keptMs, type NewDelivery, toRow } from "./delivery-rows.ts";
import { bearerFields } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

/** What became of a delivery that was to be stored. */
export type Stored = NewDelivery["place"] | "known";

/** Keeps deliveries, undelivered and final ones, with their attempts. */
export class DeliveryStore {
  readonly #rows: Collection<DeliveryRow>;
  readonly #holder: string;

  /** @param holder names this process in its leases */
  constructor(db: Db, holder: string) {
    this.#rows = db.collection("webhook_deliveries");
    this.#holder = holder;
  }

  async ensureIndexes(): Promise<void> {
    await this.#rows.createIndexes(deliveryIndexes);
  }

  /**
   * Stores deliveries. One that is to bear its lane is stored behind when the lane has a bearer; one
   * that is stored already stays unchanged and is `known`.
   *
   * @returns for each delivery what became of it
   */
  async insert(deliveries: readonly NewDelivery[], leaseUntil: Date): Promise<Stored[]> {
    const refused = await this.#insertUnlessRefused(deliveries, leaseUntil);
    const again = [...refused].map((index) => deliveries[index]).filter((each) => each !== undefined);
    const behind = again.filter(({ place }) => place === "leased" || place === "due");
    const known = await this.#insertUnlessRefused(
      behind.map((each) => ({ ...each, place: "behind" })),
      leaseUntil,
    );
    const knownIds = new Set([...known].map((index) => behind[index]?.deliveryId));
    return deliveries.map((each, index) => {
      if (!refused.has(index)) return each.place;
      return behind.includes(each) && !knownIds.has(each.deliveryId) ? "behind" : "known";
    });
  }

  /** @returns the positions of those that a unique index refused */
  async #insertUnlessRefused(deliveries: readonly NewDelivery[], leaseUntil: Date): Promise<Set<number>> {
    if (deliveries.length === 0) return new Set();
    const rows = deliveries.map((each) => toRow(each, this.#holder, leaseUntil));
    try {
      await this.#rows.insertMany(rows, { ordered: false });
      return new Set();
    } catch (error) {
      return duplicatePositions(error);
    }
  }

  /** Deletes rows of a snapshot that turned out to be unsendable. */
  async delete(deliveryIds: readonly string[]): Promise<void> {
    await this.#rows.deleteMany({ _id: { $in: [...deliveryIds] }, attemptCount: 0 });
  }

  /**
   * Ends the undelivered rows of lanes that are older than a snapshot which the endpoint's filter
   * excludes.
   */
  async supersede(excluded: readonly (Lane & Pick<Delivery, "sequence">)[], now: Date): Promise<void> {
    if (excluded.length === 0) return;
    const update = {
      $set: { state: "superseded" as const, endedAt: now, expiresAt: new Date(now.getTime() + keptMs) },
      $unset: bearerFields,
      $inc: { generation: 1 },
    };
    await this.#rows.bulkWrite(
      excluded.map((each) => ({
        updateMany: {
          filter: {
            ...laneFilter(each),
            sequence: { $lt: each.sequence },
            state: { $in: ["pending" as const, "held" as const] },
          },
          update,
        },
      })),
      { ordered: false },
    );
  }

  /** Holds an endpoint's pending deliveries, because it was disabled. They are deleted after 30 days. */
  async hold({ tenantId, endpointId }: Pick<Lane, "tenantId" | "endpointId">, now: Date): Promise<void> {
    await this.#rows.updateMany(
      { tenantId, endpointId, state: "pending" },
      {
        $set: { state: "held", expiresAt: new Date(now.getTime() + keptMs) },
        $unset: bearerFields,
        $inc: { generation: 1 },
      },
    );
  }

  /**
   * Makes an endpoint's held deliveries pending, because it was enabled. Call
   * `LaneStore.appointMissingBearers` afterwards; without it they wait until the next process does.
   *
   * @returns how many there were
   */
  async unhold({ tenantId, endpointId }: Pick<Lane, "tenantId" | "endpointId">): Promise<number> {
    const { modifiedCount } = await this.#rows.updateMany(
      { tenantId, endpointId, state: "held" },
      { $set: { state: "pending" }, $unset: { expiresAt: 1 } },
    );
    return modifiedCount;
  }

  /** Deletes the undelivered deliveries to an endpoint. Final ones are kept. */
  async deletePending(tenantId: string, endpointId: string): Promise<void> {
    await this.#rows.deleteMany({ tenantId, endpointId, state: { $in: ["pending", "held"] } });
  }
}
