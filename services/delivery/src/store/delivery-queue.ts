import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { HeldDelivery } from "../domain/delivery.ts";
import { heldProjection, toHeld } from "./delivery-rows.ts";
import type { DeliveryRow } from "./rows.ts";

/** A due row, as read; what a claim compares against. */
export type DueDelivery = Omit<DeliveryRow, "attempts">;

/** When an endpoint next has something due. */
export interface EndpointDue {
  endpointId: string;
  nextAttemptAt: Date;
}

/** The rows of `deliveries` as a queue that any number of processes take from. */
export class DeliveryQueue {
  readonly #deliveries: Collection<DeliveryRow>;
  readonly #holder: string;

  /** @param holder names this process in its leases */
  constructor(db: Db, holder: string) {
    this.#deliveries = db.collection("deliveries");
    this.#holder = holder;
  }

  /** For each endpoint with anything pending, when it next comes due. Reads one index key an endpoint, however long the backlog. */
  async schedule(): Promise<EndpointDue[]> {
    const found = this.#deliveries.aggregate<{ _id: string; nextAttemptAt: Date }>([
      { $match: { state: "pending" } },
      { $sort: { state: 1, endpointId: 1, nextAttemptAt: 1 } },
      { $group: { _id: "$endpointId", nextAttemptAt: { $first: "$nextAttemptAt" } } },
    ]);
    return (await found.toArray()).map(({ _id, nextAttemptAt }) => ({ endpointId: _id, nextAttemptAt }));
  }

  /** What an endpoint has due, longest due first. */
  async due(endpointId: string, now: Date, limit: number): Promise<DueDelivery[]> {
    const filter = { state: "pending" as const, endpointId, nextAttemptAt: { $lte: now } };
    const found = this.#deliveries.find(filter, { projection: heldProjection, limit });
    return found.sort({ nextAttemptAt: 1 }).toArray();
  }

  /** Takes the lease of due rows that nobody took meanwhile, and whose lane has no other attempt in flight. */
  async claim(due: readonly DueDelivery[], until: Date): Promise<HeldDelivery[]> {
    if (due.length === 0) return [];
    const update = {
      $set: { lease: { holder: this.#holder, until }, nextAttemptAt: until },
      $inc: { generation: 1 },
    };
    const operations = due.map(({ _id, generation }) => ({
      updateOne: { filter: { _id, generation, state: "pending" as const }, update },
    }));
    let claimed: readonly DueDelivery[];
    try {
      const { modifiedCount } = await this.#deliveries.bulkWrite(operations, { ordered: false });
      claimed = modifiedCount === due.length ? due : await this.#mine(due);
    } catch (error) {
      duplicatePositions(error);
      claimed = await this.#mine(due);
    }
    return claimed.map((row) => toHeld(row, until));
  }

  async #mine(due: readonly DueDelivery[]): Promise<readonly DueDelivery[]> {
    const filter = { _id: { $in: due.map(({ _id }) => _id) }, "lease.holder": this.#holder };
    const found = await this.#deliveries.find(filter, { projection: { generation: 1 } }).toArray();
    const generations = new Map(found.map(({ _id, generation }) => [_id, generation]));
    return due.filter(({ _id, generation }) => generations.get(_id) === generation + 1);
  }

  /** Puts off rows that wait for another one of their lane. */
  async putOff(waiting: readonly { row: DueDelivery; until: Date }[]): Promise<void> {
    if (waiting.length === 0) return;
    const operations = waiting.map(({ row: { _id, generation }, until }) => ({
      updateOne: {
        filter: { _id, generation, state: "pending" as const },
        // A lease on a due row has run out.
        update: { $set: { nextAttemptAt: until }, $unset: { lease: 1 as const }, $inc: { generation: 1 } },
      },
    }));
    await this.#deliveries.bulkWrite(operations, { ordered: false });
  }
}
