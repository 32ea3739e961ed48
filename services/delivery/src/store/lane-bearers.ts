import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { AnyBulkWriteOperation, Collection, Filter } from "mongodb";
import { type Lane, laneKey } from "../domain/delivery.ts";
import { compareRows } from "../domain/advance-lane.ts";
import { laneFilter, laneIndex } from "./delivery-indexes.ts";
import type { DeliveryRow } from "./rows.ts";

/** Upper bound of a snapshot's undelivered rows in a lane. Only a new signature adds a row. */
const signaturesMax = 16;

const absent = { $exists: false } as const;

type Oldest = Pick<DeliveryRow, "_id" | "sequence" | "signingNumber">;

export class LaneBearers {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /**
   * Gives each of these lanes a bearer, due now, if it has undelivered rows and no bearer.
   *
   * @returns none when each lane with undelivered rows got its bearer here, else all those lanes
   */
  async appoint<Named extends Lane>(lanes: readonly Named[], now: Date): Promise<Named[]> {
    const distinct = new Map(lanes.map((each) => [laneKey(each), each]));
    const [first, ...others] = distinct.values();
    if (!first) return [];
    const oldest = others.length === 0 ? await this.#oldestOf(first) : await this.#oldestOfMany([...distinct.values()]);
    if (await this.#appoint([...oldest.values()], now)) return [];
    return [...oldest.keys()].flatMap((key) => distinct.get(key) ?? []);
  }

  /**
   * Gives a bearer to every lane that has undelivered rows and no bearer. A lane loses its bearer,
   * for example, when a process dies after it has ended the bearer and before it appoints the next
   * one, or when a restore gives the bearer up.
   *
   * @returns the number of such lanes
   */
  async appointMissing(now: Date): Promise<number> {
    const oldest = await this.#oldestOfEach({}, { bearers: 0 });
    await this.#appoint([...oldest.values()], now);
    return oldest.size;
  }

  /**
   * From the lane's key to the id of its oldest undelivered row; empty when it has none. Signing
   * numbers are compared in this process: the index lacks them, so MongoDB would read the whole
   * lane to sort by them.
   */
  async #oldestOf(lane: Lane): Promise<Map<string, string>> {
    const filter: Filter<DeliveryRow> = { ...laneFilter(lane), state: "pending" };
    const projection = { sequence: 1, signingNumber: 1 };
    const found = this.#rows.find<Oldest>(filter, { projection, hint: laneIndex, limit: signaturesMax });
    const [oldest] = (await found.sort({ sequence: 1 }).toArray()).toSorted(compareRows);
    return new Map(oldest ? [[laneKey(lane), oldest._id]] : []);
  }

  async #oldestOfMany(lanes: readonly Lane[]): Promise<Map<string, string>> {
    const wanted = new Set(lanes.map(laneKey));
    const among = (key: keyof Lane) => ({ $in: [...new Set(lanes.map((lane) => lane[key]))] });
    const names = { tenantId: among("tenantId"), documentId: among("documentId"), endpointId: among("endpointId") };
    const oldest = await this.#oldestOfEach(names);
    return new Map([...oldest].filter(([key]) => wanted.has(key)));
  }

  /**
   * From the key of each lane that `names` matches to the id of its oldest undelivered row.
   *
   * @param having `bearers: 0` for lanes without a bearer only
   */
  async #oldestOfEach(names: Filter<DeliveryRow>, having: { readonly bearers?: 0 } = {}): Promise<Map<string, string>> {
    const found = this.#rows.aggregate<{ _id: Lane; oldest: Oldest }>(
      [
        { $match: { ...names, state: "pending" } },
        {
          $group: {
            _id: { tenantId: "$tenantId", documentId: "$documentId", endpointId: "$endpointId" },
            bearers: { $sum: { $cond: [{ $gt: ["$nextAttemptAt", null] }, 1, 0] } },
            oldest: { $min: row },
          },
        },
        { $match: having },
      ],
      { hint: laneIndex, allowDiskUse: true },
    );
    return new Map((await found.toArray()).map(({ _id, oldest }) => [laneKey(_id), oldest._id]));
  }

  /**
   * Makes rows bearers, except rows that have ended, and rows of lanes that have a bearer.
   *
   * @returns whether all rows became bearers
   */
  async #appoint(deliveryIds: readonly string[], now: Date): Promise<boolean> {
    if (deliveryIds.length === 0) return true;
    const statements = deliveryIds.map((_id) => appointment(_id, now));
    try {
      const { matchedCount } = await this.#rows.bulkWrite(statements, { ordered: false });
      return matchedCount === statements.length;
    } catch (error) {
      duplicatePositions(error);
      return false;
    }
  }
}

/** MongoDB compares objects field by field in this order, so the smallest one is the oldest row. */
const row = { sequence: "$sequence", signingNumber: "$signingNumber", _id: "$_id" };

/**
 * Statement that makes an undelivered row its lane's bearer, due now. It changes nothing when the
 * row is the bearer, and fails with a duplicate key when another row is the bearer.
 */
export function appointment(_id: string, now: Date): AnyBulkWriteOperation<DeliveryRow> {
  return {
    updateOne: {
      filter: { _id, state: "pending", nextAttemptAt: absent },
      update: { $set: { nextAttemptAt: now }, $inc: { generation: 1 } },
    },
  };
}
