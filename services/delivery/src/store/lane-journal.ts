import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { AnyBulkWriteOperation, Collection, Filter, UpdateFilter } from "mongodb";
import type { AttemptOutcome } from "../domain/delivery.ts";
import { deliveredStatement, isDelivered } from "./delivered-statement.ts";
import { laneFilter } from "./delivery-indexes.ts";
import { attemptsMax, keptMs, type LeasedLane, type SendableRow, toAttemptRow } from "./delivery-rows.ts";
import { bearerFields, type LaneRecord } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

/**
 * The result of a record. `followed`: the bearer is unchanged, because rows that may not be in
 * memory were stored behind it; load them, and decide again. `lost`: a later claim has taken the
 * lane, or its rows were ended or deleted.
 */
export type Journaled =
  | { readonly kind: "done"; readonly lane?: LeasedLane }
  | { readonly kind: "followed" }
  | { readonly kind: "lost" };

export class LaneJournal {
  readonly #rows: Collection<DeliveryRow>;
  readonly #holder: string;

  /** @param holder id of this process in its leases */
  constructor(rows: Collection<DeliveryRow>, holder: string) {
    this.#rows = rows;
    this.#holder = holder;
  }

  /**
   * Journals attempts and their effects on lanes. A record that is repeated after an error is
   * journaled once.
   *
   * @returns the result of each record, in the order of the records
   */
  async record(records: readonly LaneRecord[]): Promise<Journaled[]> {
    const { simple = [], others = [] } = Object.groupBy(records, (each) => (isSimple(each) ? "simple" : "others"));
    const [isSimpleKnown, isKnown] = await Promise.all([this.#recordSimple(simple), this.#recordOthers(others)]);
    const doubtful = [...(isSimpleKnown ? [] : simple), ...(isKnown ? [] : others)];
    const fates = doubtful.length > 0 ? await this.#fates(doubtful) : new Map<LaneRecord, Journaled>();
    return records.map((each) => fates.get(each) ?? done(each));
  }

  /** @returns whether all are known to be journaled */
  async #recordSimple(records: readonly LaneRecord[]): Promise<boolean> {
    if (records.length === 0) return true;
    const { delivered = [], single = [] } = Object.groupBy(records, (each) =>
      isDelivered(each) ? "delivered" : "single",
    );
    const byGeneration = Map.groupBy(delivered, ({ before }) => before.bearer.generation);
    const statements = [
      ...Array.from(byGeneration, ([generation, each]) => deliveredStatement(generation, each)),
      ...single.map((each) => this.#bearerStatement(each)),
    ];
    const { matchedCount } = await this.#rows.bulkWrite(statements, { ordered: false });
    return matchedCount === records.length;
  }

  /**
   * Journals records that change other rows, too. Of each lane the statement for the old bearer
   * comes before that for the next one, because the unique index refuses a second bearer.
   *
   * @returns whether all are known to be journaled
   */
  async #recordOthers(records: readonly LaneRecord[]): Promise<boolean> {
    if (records.length === 0) return true;
    const statements = records.flatMap((each) => [
      this.#bearerStatement(each),
      ...rowStatements(each),
      ...this.#promotion(each),
    ]);
    // A statement for many rows matches any number of them, so only single-row statements can be
    // counted.
    const areSingle = statements.every((each) => "updateOne" in each);
    try {
      const { matchedCount } = await this.#rows.bulkWrite(statements, { ordered: false });
      return areSingle && matchedCount === statements.length;
    } catch (error) {
      duplicatePositions(error);
      return false;
    }
  }

  #bearerStatement(record: LaneRecord): AnyBulkWriteOperation<DeliveryRow> {
    const { deliveryId: _id, generation } = record.before.bearer;
    return {
      updateOne: {
        filter: { _id, generation, isFollowed: { $exists: false } },
        update: merge({ $inc: { generation: 1 } }, this.#laneUpdate(record, _id), rowUpdate(record, _id)),
      },
    };
  }

  /** Makes the lane's oldest row the bearer when the old bearer has reached a final state. */
  #promotion(record: LaneRecord): AnyBulkWriteOperation<DeliveryRow>[] {
    const next = bearerAfter(record);
    if (!next || next.deliveryId === record.before.bearer.deliveryId) return [];
    const { deliveryId: _id, generation } = next;
    const update = merge({ $inc: { generation: 1 } }, this.#laneUpdate(record, _id));
    return [{ updateOne: { filter: { _id, generation, state: "pending" }, update } }];
  }

  /** Sets the fields that only a bearer has; removes them from a row that is no bearer any more. */
  #laneUpdate(record: LaneRecord, deliveryId: string): UpdateFilter<DeliveryRow> {
    const { step, leaseUntil, token } = record;
    if (bearerAfter(record)?.deliveryId !== deliveryId) return { $unset: bearerFields };
    const { yieldedTo, dueAt, isExpedited } = step.lane;
    return merge(
      leaseUntil
        ? { $set: { nextAttemptAt: leaseUntil, lease: { holder: this.#holder, until: leaseUntil, token } } }
        : { $set: { nextAttemptAt: dueAt }, $unset: { lease: 1 } },
      yieldedTo === undefined ? { $unset: { yieldedTo: 1 } } : { $set: { yieldedTo } },
      isExpedited ? { $set: { isExpedited: true } } : { $unset: { isExpedited: 1 } },
    );
  }

  /** Reads the results of records whose statements may not all have matched. */
  async #fates(records: readonly LaneRecord[]): Promise<Map<LaneRecord, Journaled>> {
    const ids = records.flatMap((each) => [each.before.bearer.deliveryId, bearerAfter(each)?.deliveryId ?? []].flat());
    const projection = { generation: 1, state: 1, lease: 1, isFollowed: 1 } as const;
    const found = await this.#rows.find({ _id: { $in: ids } }, { projection }).toArray();
    const rows = new Map(found.map((row) => [row._id, row]));
    return new Map(records.map((each) => [each, this.#fateOf(each, rows)]));
  }

  #fateOf(record: LaneRecord, rows: ReadonlyMap<string, DeliveryRow>): Journaled {
    const { bearer } = record.before;
    const old = rows.get(bearer.deliveryId);
    if (old?.isFollowed && old.generation === bearer.generation) return { kind: "followed" };
    const next = bearerAfter(record);
    const written = next ? rows.get(next.deliveryId) : old;
    const generation = next && next.deliveryId !== bearer.deliveryId ? next.generation : bearer.generation;
    // Another claim, of this process or another, may have taken the lane.
    const isOurs = written?.lease?.token === (next && record.leaseUntil ? record.token : undefined);
    return written?.generation === generation + 1 && isOurs ? done(record) : { kind: "lost" };
  }

  /**
   * Notes that a receiver has accepted a webhook whose lane this process has lost meanwhile. That
   * needs no lease, because the acceptance is a fact. The older rows, which had yielded to the
   * accepted one, end first: when only the first statement is executed, the accepted webhook is
   * sent again, and no older one after it.
   *
   * @returns whether the accepted row was pending until now
   */
  async noteAccepted(row: SendableRow, outcome: AttemptOutcome): Promise<boolean> {
    const changed = { $inc: { generation: 1 }, $unset: bearerFields };
    const [older, accepted] = [ending("superseded", outcome), ending("delivered", outcome)];
    await this.#rows.updateMany(olderFilter(row), merge(changed, older));
    const filter = { _id: row.deliveryId, state: "pending" as const };
    const { matchedCount } = await this.#rows.updateOne(filter, merge(changed, accepted));
    return matchedCount === 1;
  }
}

/** Whether the bearer's row is the only one that changes. */
function isSimple({ before, step }: LaneRecord): boolean {
  const { deliveryId } = before.bearer;
  const isBearer = (row: SendableRow) => row.deliveryId === deliveryId;
  const hasEnded = step.ended.length > 0;
  if (before.state.yieldedTo !== undefined) return false;
  return (
    isBearer(step.attempted) &&
    step.changed.every(isBearer) &&
    step.ended.every(({ row }) => isBearer(row)) &&
    (!hasEnded || step.next === "empty")
  );
}

/** The lane's bearer after a step; undefined when the step leaves no row in memory. */
function bearerAfter({ before, step }: LaneRecord): SendableRow | undefined {
  const { rows } = step.lane;
  return rows.find(({ deliveryId }) => deliveryId === before.bearer.deliveryId) ?? rows[0];
}

function done(record: LaneRecord): Journaled {
  const { before, step, leaseUntil } = record;
  const next = bearerAfter(record);
  if (!next || !leaseUntil) return { kind: "done" };
  const isSame = next.deliveryId === before.bearer.deliveryId;
  const generation = (isSame ? before.bearer.generation : next.generation) + 1;
  const { attempted } = step;
  const rows = step.lane.rows.map((row) =>
    row.deliveryId === attempted.deliveryId ? { ...row, attemptCount: attempted.attemptCount + 1 } : row,
  );
  const bearer = { deliveryId: next.deliveryId, generation };
  return { kind: "done", lane: { bearer, leaseUntil, state: { ...step.lane, rows } } };
}

/** The statements for rows other than the bearer. */
function rowStatements(record: LaneRecord): AnyBulkWriteOperation<DeliveryRow>[] {
  const { before, step, outcome } = record;
  const bearerId = before.bearer.deliveryId;
  const { attempted } = step;
  const own = step.changed.filter(({ deliveryId }) => deliveryId !== bearerId && deliveryId !== attempted.deliveryId);
  return [
    ...(attempted.deliveryId === bearerId
      ? []
      : [
          {
            updateOne: {
              // The token keeps a repeated record from being written twice. A row that has become
              // the bearer has a due time: if it ended here, it would be claimed and sent again.
              filter: {
                _id: attempted.deliveryId,
                state: "pending" as const,
                nextAttemptAt: { $exists: false },
                "attempts.token": { $ne: record.token },
              },
              update: rowUpdate(record, attempted.deliveryId),
            },
          },
        ]),
    ...own.map(({ deliveryId: _id }) => ({ updateOne: { filter: { _id }, update: rowUpdate(record, _id) } })),
    // The filter compares sequences, because rows that are not in memory must end, too.
    ...(step.olderEnd === undefined || before.state.yieldedTo === undefined
      ? []
      : [
          {
            updateMany: {
              filter: { ...olderFilter(attempted), _id: { $nin: [bearerId, attempted.deliveryId] } },
              update: merge(ending(step.olderEnd, outcome), { $unset: bearerFields }),
            },
          },
        ]),
  ];
}

function olderFilter(row: SendableRow): Filter<DeliveryRow> {
  const { sequence, signingNumber } = row;
  const older = [{ sequence: { $lt: sequence } }, { sequence, signingNumber: { $lt: signingNumber } }];
  return { ...laneFilter(row), state: "pending", $or: older };
}

/** What a step changes in a row, except for the fields that only a bearer has. */
function rowUpdate(record: LaneRecord, deliveryId: string): UpdateFilter<DeliveryRow> {
  const { before, step, outcome, webhookId } = record;
  const token = deliveryId === before.bearer.deliveryId ? {} : { token: record.token };
  const isAttempted = step.attempted.deliveryId === deliveryId;
  const changed = step.changed.find((row) => row.deliveryId === deliveryId);
  const ended = step.ended.find(({ row }) => row.deliveryId === deliveryId);
  return merge(
    isAttempted
      ? {
          $inc: { attemptCount: 1 },
          $set: { webhookId },
          $push: { attempts: { $each: [{ ...toAttemptRow(outcome), ...token }], $slice: -attemptsMax } },
        }
      : {},
    changed ? { $set: { retryCount: changed.retryCount, ...(changed.isRefused ? { isRefused: true } : {}) } } : {},
    ended ? ending(ended.state, outcome) : {},
  );
}

function ending(state: DeliveryRow["state"], { startedAt, tookMs }: AttemptOutcome): UpdateFilter<DeliveryRow> {
  const endedAt = new Date(startedAt.getTime() + tookMs);
  return { $set: { state, endedAt, expiresAt: new Date(endedAt.getTime() + keptMs) } };
}

function merge(...updates: readonly UpdateFilter<DeliveryRow>[]): UpdateFilter<DeliveryRow> {
  const merged: Record<string, object> = {};
  for (const update of updates) {
    for (const [operator, fields] of Object.entries(update)) {
      merged[operator] = { ...merged[operator], ...fields };
    }
  }
  return merged;
}
