import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection } from "mongodb";
import { laneKey } from "../domain/delivery.ts";
import { type NewDelivery, toRow } from "./delivery-rows.ts";
import { pendingIndex } from "./delivery-indexes.ts";
import type { DeliveryRow } from "./rows.ts";

/** How a delivery was stored; `known` when it was stored before. */
export type Stored = NewDelivery["standing"] | "known";

const deletedMax = 1_000;

/** Stores new deliveries, and deletes undelivered ones. Other stores change the rows. */
export class DeliveryStore {
  readonly #rows: Collection<DeliveryRow>;
  readonly #holder: string;

  /** @param holder id of this process in its leases */
  constructor(rows: Collection<DeliveryRow>, holder: string) {
    this.#rows = rows;
    this.#holder = holder;
  }

  /**
   * Stores deliveries. A planned bearer is stored behind when the lane has another one; a delivery
   * that was stored before stays unchanged and is `known`.
   *
   * Rows behind a new bearer are stored after it, so that a process that loads the lane meanwhile
   * never gets a newer row without the older one.
   *
   * @param deliveries those of one lane in their order, older before newer
   * @returns the standing of each delivery, in the order of `deliveries`
   */
  async insert(deliveries: readonly NewDelivery[], leaseUntil: Date): Promise<Stored[]> {
    const bearers = deliveries.filter(isBearer);
    const borne = new Set(bearers.length < deliveries.length ? bearers.map(laneKey) : []);
    const { later = [], first = [] } = Object.groupBy(deliveries, (each) =>
      !isBearer(each) && borne.has(laneKey(each)) ? "later" : "first",
    );
    const standings = new Map<string, Stored>(deliveries.map(({ deliveryId, standing }) => [deliveryId, standing]));
    const refused = await this.#insertUnlessRefused(first, leaseUntil);
    for (const { deliveryId } of refused) standings.set(deliveryId, "known");
    const second = [...refused.filter(isBearer), ...later];
    const behind = second.map((each): NewDelivery => Object.assign({}, each, { standing: "behind" } as const));
    for (const { deliveryId } of second) standings.set(deliveryId, "behind");
    for (const { deliveryId } of await this.#insertUnlessRefused(behind, leaseUntil))
      standings.set(deliveryId, "known");
    return deliveries.map(({ deliveryId, standing }) => standings.get(deliveryId) ?? standing);
  }

  /** @returns the deliveries that a unique index refused */
  async #insertUnlessRefused(deliveries: readonly NewDelivery[], leaseUntil: Date): Promise<NewDelivery[]> {
    if (deliveries.length === 0) return [];
    const rows = deliveries.map((each) => toRow(each, this.#holder, leaseUntil));
    try {
      await this.#rows.insertMany(rows, { ordered: false });
      return [];
    } catch (error) {
      const refused = duplicatePositions(error);
      return deliveries.filter((_, position) => refused.has(position));
    }
  }

  /**
   * Deletes rows of snapshots that can never be sent. A row with an attempt stays, because its
   * endpoint may have the webhook.
   */
  async delete(deliveryIds: readonly string[]): Promise<void> {
    await this.#rows.deleteMany({ _id: { $in: [...deliveryIds] }, attemptCount: 0 });
  }

  /** Deletes up to a thousand deliveries. @returns whether there may be more */
  async deletePending(tenantId: string, endpointId: string): Promise<boolean> {
    const ofEndpoint = { tenantId, endpointId, state: "pending" } as const;
    const found = this.#rows.find(ofEndpoint, { projection: { _id: 1 }, limit: deletedMax }).hint(pendingIndex);
    const ids = (await found.toArray()).map(({ _id }) => _id);
    if (ids.length > 0) await this.#rows.deleteMany({ _id: { $in: ids }, state: "pending" });
    return ids.length === deletedMax;
  }
}

function isBearer({ standing }: NewDelivery): boolean {
  return standing === "leased" || standing === "due";
}
