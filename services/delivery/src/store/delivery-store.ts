import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection } from "mongodb";
import { laneKey } from "../domain/delivery.ts";
import { type NewDelivery, toRow } from "./delivery-rows.ts";
import type { DeliveryRow } from "./rows.ts";

/** What became of a delivery that was to be stored. */
export type Stored = NewDelivery["place"] | "known";

/** Keeps deliveries, undelivered and final ones, with their attempts. */
export class DeliveryStore {
  readonly #rows: Collection<DeliveryRow>;
  readonly #holder: string;

  /** @param holder names this process in its leases */
  constructor(rows: Collection<DeliveryRow>, holder: string) {
    this.#rows = rows;
    this.#holder = holder;
  }

  /**
   * Stores deliveries. One that is to bear its lane is stored behind when the lane has a bearer; one
   * that is stored already stays unchanged and is `known`.
   *
   * What goes behind a new bearer is stored after it: a lane that another process loads meanwhile has
   * no newer row without the older one.
   *
   * @param deliveries of a lane, older before newer
   * @returns for each delivery what became of it
   */
  async insert(deliveries: readonly NewDelivery[], leaseUntil: Date): Promise<Stored[]> {
    const bearers = deliveries.filter(isBearer);
    const borne = new Set(bearers.length < deliveries.length ? bearers.map(laneKey) : []);
    const { later = [], first = [] } = Object.groupBy(deliveries, (each) =>
      !isBearer(each) && borne.has(laneKey(each)) ? "later" : "first",
    );
    const fates = new Map<string, Stored>(deliveries.map(({ deliveryId, place }) => [deliveryId, place]));
    const refused = await this.#insertUnlessRefused(first, leaseUntil);
    for (const { deliveryId } of refused) fates.set(deliveryId, "known");
    const second = [...refused.filter(isBearer), ...later];
    const behind = second.map((each): NewDelivery => Object.assign({}, each, { place: "behind" } as const));
    for (const { deliveryId } of second) fates.set(deliveryId, "behind");
    for (const { deliveryId } of await this.#insertUnlessRefused(behind, leaseUntil)) fates.set(deliveryId, "known");
    return deliveries.map(({ deliveryId, place }) => fates.get(deliveryId) ?? place);
  }

  /** @returns those that a unique index refused */
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

  /** Deletes rows of a snapshot that turned out to be unsendable. */
  async delete(deliveryIds: readonly string[]): Promise<void> {
    await this.#rows.deleteMany({ _id: { $in: [...deliveryIds] }, attemptCount: 0 });
  }

  /** Deletes the undelivered deliveries to an endpoint. Final ones are kept. */
  async deletePending(tenantId: string, endpointId: string): Promise<void> {
    await this.#rows.deleteMany({ tenantId, endpointId, state: "pending" });
  }
}

/** Whether it is to bear its lane. */
function isBearer({ place }: NewDelivery): boolean {
  return place === "leased" || place === "due";
}
