import type { CollectionIndexes } from "@vidimus/kit/mongo/indexes";
import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { AnyBulkWriteOperation, Collection, Filter } from "mongodb";
import type { AttemptOutcome, Lane } from "../domain/delivery.ts";
import {
  type LoggedAttempt,
  type LoggedDelivery,
  type SignedDelivery,
  type StoredState,
  tellingDelivery,
} from "../domain/delivery-log.ts";
import { type Reference, type SnapshotFacts, snapshotKey } from "../domain/payload.ts";
import { pendingIndex } from "./delivery-indexes.ts";
import { attemptsMax, keptMs, toAttemptRow } from "./delivery-rows.ts";
import type { AttemptRow, DeliveryRow } from "./rows.ts";

export interface DeliveryQuery {
  readonly tenantId: string;
  readonly endpointIds: readonly string[];
  readonly documentId?: string;
  /** Present to list only these deliveries. */
  readonly deliveryIds?: readonly string[];
  /** Deliveries with these webhook ids are left out. */
  readonly butWebhookIds?: readonly string[];
  /** Empty for all. */
  readonly states: readonly StoredState[];
  /**
   * Present to leave out pending deliveries to all endpoints but these. Final deliveries are not
   * affected.
   */
  readonly pendingOf?: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  readonly limit: number;
  /** The last delivery of the page before. */
  readonly after?: { readonly createdAt: Date; readonly deliveryId: string };
}

/** An attempt that a person or a replay asked for. */
export interface Resent extends Pick<
  LoggedDelivery,
  "deliveryId" | "tenantId" | "endpointId" | "documentId" | "sequence" | "webhookId" | "signingNumber" | "snapshot"
> {
  readonly bodyBytes: number;
  readonly outcome: AttemptOutcome;
  readonly isAccepted: boolean;
  readonly replayId: string;
  /** The value of the attempt's header `vidimus-attempt`. */
  readonly attempt: number;
  /** Whether no attempt follows even if the receiver has refused this one. */
  readonly isLast: boolean;
}

/** Names of indexes that queries give as a hint. */
export const logOfEndpointIndex = "log_of_endpoint";
const ofDocumentIndex = "of_document";

/**
 * Indexes of all rows, also of final ones, which are kept for 30 days. A row takes 75 bytes of disk
 * in the first index and 130 in the second. Together they take at most 40 of the 350 µs of CPU that
 * mongod 6.0 needs for the two statements of a delivery. The deliveries of one document are few and
 * are sorted in memory: an index with their time and id took 240 bytes, because its keys arrive in
 * no order and leave pages half empty.
 */
export const logIndexes = {
  [logOfEndpointIndex]: { key: { tenantId: 1, endpointId: 1, createdAt: -1, _id: -1 } },
  [ofDocumentIndex]: { key: { tenantId: 1, documentId: 1 } },
} as const satisfies CollectionIndexes;

const snapshotProjection = {
  _id: 0,
  documentId: 1,
  sequence: 1,
  signingNumber: 1,
  state: 1,
  endedReplayId: 1,
  attempts: { $slice: -1 },
  "snapshot.event": 1,
};
type SnapshotRow = Pick<
  DeliveryRow,
  "documentId" | "sequence" | "signingNumber" | "state" | "endedReplayId" | "attempts"
> & { snapshot?: Pick<SnapshotFacts, "event"> };

/** Longest time of one list: a search for rare states reads many rows. */
const searchMsMax = 5_000;

/** Reads `deliveries` for people, and records the attempts that people and replays ask for. */
export class DeliveryLogStore {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /** Newest first, each with its last attempt only. */
  async list(query: DeliveryQuery, signal?: AbortSignal): Promise<LoggedDelivery[]> {
    const options = {
      limit: query.limit,
      maxTimeMS: searchMsMax,
      hint: indexFor(query),
      ...(signal ? { signal } : {}),
    };
    const found = this.#rows.find(toFilter(query), { ...options, projection: { attempts: { $slice: -1 } } });
    return (await found.sort({ createdAt: -1, _id: -1 }).toArray()).map(fromRow);
  }

  /** With all kept attempts. @returns undefined when the tenant has no such delivery */
  async find(tenantId: string, deliveryId: string): Promise<LoggedDelivery | undefined> {
    const row = await this.#rows.findOne({ _id: deliveryId, tenantId });
    return row ? fromRow(row) : undefined;
  }

  /**
   * From `snapshotKey` to the delivery that shows what happened to the snapshot at an endpoint. A
   * snapshot has a delivery for each signature with which it was sent; `tellingDelivery` chooses
   * one of them. Snapshots without deliveries are left out.
   */
  async findSnapshots(
    { tenantId, endpointId }: Pick<Lane, "tenantId" | "endpointId">,
    references: readonly Reference[],
  ): Promise<Map<string, SignedDelivery | undefined>> {
    const documentId = { $in: [...new Set(references.map((each) => each.documentId))] };
    const sequence = { $in: [...new Set(references.map((each) => each.sequence))] };
    const found = this.#rows.find<SnapshotRow>(
      { tenantId, documentId, endpointId, sequence },
      { projection: snapshotProjection, hint: ofDocumentIndex },
    );
    const bySnapshot = Map.groupBy(await found.toArray(), (row) => snapshotKey({ tenantId, ...row }));
    return new Map(Array.from(bySnapshot, ([key, rows]) => [key, tellingDelivery(rows.map(toSigned))]));
  }

  /**
   * Records attempts at deliveries that are final or not stored. A delivery that was stored as
   * pending meanwhile is not changed.
   */
  async recordResent(resent: readonly Resent[], now: Date): Promise<void> {
    const operations = resent.map((each) => recordOf(each, now));
    // The upsert for a delivery that is pending fails with a duplicate id, which is ignored.
    await this.#rows.bulkWrite(operations, { ordered: false }).catch(duplicatePositions);
  }
}

/** Without a hint a list of a document may walk the log of an endpoint from its beginning. */
function indexFor({ deliveryIds, documentId, states }: DeliveryQuery): string {
  if (deliveryIds) return "_id_";
  if (documentId !== undefined) return ofDocumentIndex;
  return states.length === 1 && states[0] === "pending" ? pendingIndex : logOfEndpointIndex;
}

function toSigned({ signingNumber, state, endedReplayId, attempts, snapshot }: SnapshotRow): SignedDelivery {
  const lastReplayId = attempts.at(-1)?.replayId;
  return {
    signingNumber,
    state,
    ...(endedReplayId === undefined ? {} : { endedReplayId }),
    ...(lastReplayId === undefined ? {} : { lastReplayId }),
    ...(snapshot ? { event: snapshot.event } : {}),
  };
}

function recordOf(resent: Resent, now: Date): AnyBulkWriteOperation<DeliveryRow> {
  const { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, signingNumber } = resent;
  const { outcome, isAccepted, replayId, attempt: number, isLast, bodyBytes, snapshot } = resent;
  const expiresAt = new Date(now.getTime() + keptMs);
  const accepted = isAccepted ? { state: "delivered" as const, endedAt: now } : {};
  const given = isAccepted ? {} : { state: "exhausted" as const, endedAt: now };
  const names = { tenantId, endpointId, documentId, sequence, webhookId, signingNumber };
  const created = { ...names, bodyBytes, createdAt: now, ...(snapshot ? { snapshot } : {}) };
  return {
    updateOne: {
      filter: { _id: deliveryId, state: { $in: ["delivered", "superseded", "exhausted"] } },
      update: {
        $push: { attempts: { $each: [{ ...toAttemptRow(outcome), replayId, number }], $slice: -attemptsMax } },
        $inc: { attemptCount: 1 },
        $set: { ...accepted, expiresAt, ...(isLast || isAccepted ? { endedReplayId: replayId } : {}) },
        $setOnInsert: { ...created, ...given, generation: 0, retryCount: 0 },
      },
      upsert: true,
    },
  };
}

function toFilter(query: DeliveryQuery): Filter<DeliveryRow> {
  const { tenantId, endpointIds, documentId, deliveryIds, butWebhookIds, states, pendingOf, since, until, after } =
    query;
  const createdAt = { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) };
  const [only, ...others] = endpointIds;
  const [state, ...otherStates] = states;
  const older = after && [
    { createdAt: { $lt: after.createdAt } },
    { createdAt: after.createdAt, _id: { $lt: after.deliveryId } },
  ];
  return {
    tenantId,
    endpointId: only !== undefined && others.length === 0 ? only : { $in: [...endpointIds] },
    ...(documentId === undefined ? {} : { documentId }),
    ...(deliveryIds ? { _id: { $in: [...deliveryIds] } } : {}),
    ...(butWebhookIds ? { webhookId: { $nin: [...butWebhookIds] } } : {}),
    ...(state ? { state: otherStates.length > 0 ? { $in: [...states] } : state } : {}),
    ...(pendingOf ? { $nor: [{ state: "pending" as const, endpointId: { $nin: [...pendingOf] } }] } : {}),
    ...(since || until ? { createdAt } : {}),
    ...(older ? { $or: older } : {}),
  };
}

function fromRow(row: DeliveryRow): LoggedDelivery {
  const { _id, tenantId, endpointId, documentId, sequence, signingNumber, webhookId, state, createdAt } = row;
  const { endedAt, nextAttemptAt, attemptCount, attempts, snapshot, notice } = row;
  return {
    deliveryId: _id,
    tenantId,
    endpointId,
    documentId,
    sequence,
    signingNumber,
    webhookId,
    state,
    attemptCount,
    createdAt,
    attempts: attempts.map(fromAttemptRow),
    ...(endedAt ? { endedAt } : {}),
    ...(nextAttemptAt ? { nextAttemptAt } : {}),
    ...(snapshot ? { snapshot } : {}),
    ...(notice ? { notice } : {}),
  };
}

export function fromAttemptRow({ at, ...attempt }: AttemptRow): LoggedAttempt {
  return { startedAt: at, ...attempt };
}
