import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { AnyBulkWriteOperation, Collection, Filter } from "mongodb";
import { type Delivery, type Lane, laneKey } from "../domain/delivery.ts";
import { compareRows } from "../domain/advance-lane.ts";
import { dueIndex, laneFilter, laneIndex } from "./delivery-indexes.ts";
import { keptMs, type LeasedLane } from "./delivery-rows.ts";
import { appointment, LaneBearers } from "./lane-bearers.ts";
import { bearerFields } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

type Bearer = Pick<
  DeliveryRow,
  "_id" | "tenantId" | "documentId" | "endpointId" | "sequence" | "generation" | "nextAttemptAt" | "yieldedTo"
>;
type Pending = Pick<
  DeliveryRow,
  "_id" | "tenantId" | "documentId" | "endpointId" | "sequence" | "signingNumber" | "nextAttemptAt"
>;

const laneFields = { tenantId: 1, documentId: 1, endpointId: 1, sequence: 1 } as const;
/** Most lanes of a batch of `exhaust`, so that other statements can run between two batches. */
const lanesMax = 500;

/** Ends undelivered rows that must not be sent any more. */
export class LaneEndings {
  readonly #rows: Collection<DeliveryRow>;
  readonly #bearers: LaneBearers;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
    this.#bearers = new LaneBearers(this.#rows);
  }

  /**
   * Supersedes, in each lane, the undelivered rows that are older than a snapshot which the
   * endpoint's filter excludes. If rows are left in such a lane, one of them is its bearer then.
   * Takes one command when there are no older rows.
   */
  async supersede(excluded: readonly (Lane & Pick<Delivery, "sequence">)[], now: Date): Promise<void> {
    if (excluded.length === 0) return;
    const newest = new Map(excluded.map((each) => [laneKey(each), each.sequence]));
    const isOlder = (row: Pending) => row.sequence < (newest.get(laneKey(row)) ?? 0);
    const lanes = Map.groupBy(await this.#pendingOf(excluded), laneKey);
    const touched = [...lanes.values()].filter((rows) => rows.some(isOlder));
    if (touched.length === 0) return;
    const older = touched.flat().filter(isOlder);
    const heirs = touched.flatMap((rows) => rows.filter((each) => !isOlder(each)).toSorted(compareRows)[0] ?? []);
    await this.#rows.bulkWrite([
      endAll({ _id: { $in: older.map(({ _id }) => _id) }, state: "pending" }, "superseded", now),
    ]);
    const appointments = heirs.filter(({ nextAttemptAt }) => !nextAttemptAt).map(({ _id }) => appointment(_id, now));
    if (appointments.length === 0) return;
    // A lane that got a bearer meanwhile fails with a duplicate key, and must not stop the others.
    await this.#rows.bulkWrite(appointments, { ordered: false }).catch(duplicatePositions);
  }

  /**
   * Ends rows that have yielded to a row that has ended since, for example because a process died
   * after it had journaled the end of that row and before it ended the older ones. If rows are left
   * in such a lane, one of them becomes its bearer, without a lease.
   *
   * @param lanes whose `yieldedTo` is not among their rows
   * @returns the lanes that needed no change
   */
  async endYielded(lanes: readonly LeasedLane[], now: Date): Promise<LeasedLane[]> {
    const ids = lanes.flatMap(({ state }) => state.yieldedTo ?? []);
    const found = await this.#rows.find({ _id: { $in: ids }, state: { $ne: "pending" } }).toArray();
    const heirs = new Map(found.map((row) => [row._id, row]));
    const statements = found.map((heir) => {
      const { sequence, signingNumber } = heir;
      const older = [{ sequence: { $lt: sequence } }, { sequence, signingNumber: { $lt: signingNumber } }];
      const state = heir.state === "exhausted" ? "exhausted" : "superseded";
      return endAll({ ...laneFilter(heir), state: "pending", $or: older }, state, now);
    });
    if (statements.length > 0) {
      await this.#rows.bulkWrite(statements, { ordered: false });
      await this.#bearers.appoint(found, now);
    }
    return lanes.filter(({ state }) => !heirs.has(state.yieldedTo ?? ""));
  }

  async #pendingOf(lanes: readonly Lane[]): Promise<Pending[]> {
    const wanted = new Set(lanes.map(laneKey));
    const among = (key: keyof Lane) => ({ $in: [...new Set(lanes.map((lane) => lane[key]))] });
    const found = await this.#rows
      .find<Pending>(
        {
          tenantId: among("tenantId"),
          documentId: among("documentId"),
          endpointId: among("endpointId"),
          state: "pending",
        },
        { projection: { ...laneFields, signingNumber: 1, nextAttemptAt: 1 }, hint: laneIndex },
      )
      .toArray();
    return found.filter((row) => wanted.has(laneKey(row)));
  }

  /**
   * Gives up, without an attempt, the rows of an endpoint's lanes that were stored before a time.
   * Lanes under a lease are left to a later call. So are lanes that have yielded to a row that was
   * stored after that time: only the bearer's row records the yielding, and once the bearer has
   * ended, an older row would be sent after the row to which it has yielded.
   *
   * @returns for each batch of lanes, how many were shortened, and by how many rows in all
   */
  async *exhaust(
    { tenantId, endpointId }: Pick<Lane, "tenantId" | "endpointId">,
    storedBefore: Date,
    now: Date,
  ): AsyncGenerator<{ readonly lanes: number; readonly rows: number }> {
    const isFree = [{ lease: { $exists: false } }, { "lease.until": { $lte: now } }];
    const due = { nextAttemptAt: { $gt: new Date(0) } };
    await using cursor = this.#rows
      .find<Bearer>(
        { endpointId, tenantId, ...due, createdAt: { $lte: storedBefore }, $or: isFree },
        { projection: { ...laneFields, generation: 1, nextAttemptAt: 1, yieldedTo: 1 }, batchSize: lanesMax },
      )
      .sort({ nextAttemptAt: 1 })
      .hint(dueIndex);
    while (await cursor.hasNext()) {
      const found = cursor.readBufferedDocuments();
      const heirs = await this.#old(
        found.flatMap(({ yieldedTo = [] }) => yieldedTo),
        storedBefore,
      );
      const bearers = found.filter(({ yieldedTo }) => yieldedTo === undefined || heirs.has(yieldedTo));
      yield await this.#exhaustLanes(bearers, heirs, storedBefore, now);
    }
  }

  /**
   * From delivery id to sequence, for those of the rows that were stored before a time. Includes
   * ended rows.
   */
  async #old(deliveryIds: readonly string[], storedBefore: Date): Promise<Map<string, number>> {
    if (deliveryIds.length === 0) return new Map();
    const filter = { _id: { $in: [...deliveryIds] }, createdAt: { $lte: storedBefore } };
    const rows = await this.#rows.find(filter, { projection: { sequence: 1 } }).toArray();
    return new Map(rows.map(({ _id, sequence }) => [_id, sequence]));
  }

  /** Ends the bearers first, because no process claims a lane without a bearer meanwhile. */
  async #exhaustLanes(
    bearers: readonly Bearer[],
    heirs: ReadonlyMap<string, number>,
    storedBefore: Date,
    now: Date,
  ): Promise<{ readonly lanes: number; readonly rows: number }> {
    if (bearers.length === 0) return { lanes: 0, rows: 0 };
    const endings = Array.from(
      Map.groupBy(bearers, ({ generation }) => generation),
      ([generation, rows]) =>
        endAll({ _id: { $in: rows.map(({ _id }) => _id) }, generation, state: "pending" }, "exhausted", now),
    );
    await this.#rows.bulkWrite(endings, { ordered: false });
    const ids = { _id: { $in: bearers.map(({ _id }) => _id) } };
    const ended = await this.#rows.find({ ...ids, state: "exhausted" }, { projection: { _id: 1 } }).toArray();
    const isEnded = new Set(ended.map(({ _id }) => _id));
    const lanes = bearers.filter(({ _id }) => isEnded.has(_id));
    if (lanes.length === 0) return { lanes: 0, rows: 0 };
    const behind = lanes.map((lane) => {
      const yielded = heirs.get(lane.yieldedTo ?? "") ?? lane.sequence;
      const old = { $or: [{ createdAt: { $lte: storedBefore } }, { sequence: { $lte: yielded } }] };
      return endAll({ ...laneFilter(lane), state: "pending", ...old }, "exhausted", now);
    });
    const { modifiedCount } = await this.#rows.bulkWrite(behind, { ordered: false });
    await this.#bearers.appoint(lanes, now);
    return { lanes: lanes.length, rows: lanes.length + modifiedCount };
  }
}

function endAll(
  filter: Filter<DeliveryRow>,
  state: "superseded" | "exhausted",
  now: Date,
): AnyBulkWriteOperation<DeliveryRow> {
  const ended = { state, endedAt: now, expiresAt: new Date(now.getTime() + keptMs) };
  return { updateMany: { filter, update: { $set: ended, $unset: bearerFields, $inc: { generation: 1 } } } };
}
