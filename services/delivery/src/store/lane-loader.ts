import type { Collection, Filter } from "mongodb";
import { type Lane, laneKey } from "../domain/delivery.ts";
import { arrive, compareRows } from "../domain/advance-lane.ts";
import { assembleLane, needsUntried } from "../domain/lane-pages.ts";
import { laneFilter, laneIndex } from "./delivery-indexes.ts";
import {
  type LeasedLane,
  type RowHead,
  sendableProjection,
  toLeasedLane,
  toSendable,
  wholeLane,
} from "./delivery-rows.ts";
import type { DeliveryRow } from "./rows.ts";

/** Most rows that are read at once behind the bearers of a claim. */
const rowsMax = 1_000;
/** Most rows of a page of one lane. A lane with more behind its bearer is not read completely. */
const laneRowsMax = 100;

/** Reads the rows of lanes that this process has leased. */
export class LaneLoader {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /**
   * @param bearers of one endpoint's lanes, with the generations that their leases have given them
   */
  async load(bearers: readonly RowHead[], leaseUntil: Date): Promise<LeasedLane[]> {
    const [first] = bearers;
    if (!first) return [];
    const behind = await this.#loadBehind(first, bearers);
    return Promise.all(
      bearers.map(async (bearer) => {
        const rows = behind.get(bearer.documentId) ?? [];
        if (rows.length > laneRowsMax) return this.#loadDeep(bearer, leaseUntil);
        return toLeasedLane(bearer, wholeLane([bearer, ...rows].map(toSendable)), { leaseUntil, dueAt: new Date() });
      }),
    );
  }

  /**
   * From document id to the rows behind the bearer, for lanes of one endpoint. For a lane with more
   * than `laneRowsMax` such rows some may be missing.
   */
  async #loadBehind(
    { tenantId, endpointId }: RowHead,
    bearers: readonly RowHead[],
  ): Promise<ReadonlyMap<string, readonly RowHead[]>> {
    const ids = bearers.map(({ _id }) => _id);
    const behind = new Map<string, RowHead[]>();
    let rest = bearers.map(({ documentId }) => documentId);
    while (rest.length > 0) {
      const found = await this.#rows
        .find<RowHead>(
          { tenantId, endpointId, documentId: { $in: rest }, state: "pending", _id: { $nin: ids } },
          // One batch; the default would end the first one at 101 rows.
          { projection: sendableProjection, limit: rowsMax, batchSize: rowsMax },
        )
        .sort({ documentId: 1, sequence: 1 })
        .hint(laneIndex)
        .toArray();
      const page = Map.groupBy(found, ({ documentId }) => documentId);
      for (const [documentId, rows] of page) behind.set(documentId, rows);
      // Rows of the last document of a full page, and of all later documents, may be missing.
      const cutAt = found.length < rowsMax ? undefined : found.at(-1)?.documentId;
      if (cutAt === undefined) break;
      const isDeep = (page.get(cutAt)?.length ?? 0) > laneRowsMax;
      rest = rest.filter((documentId) => (isDeep ? documentId > cutAt : documentId >= cutAt));
    }
    return behind;
  }

  /** Reads the oldest and the newest rows of a lane that is too long to be read completely. */
  async #loadDeep(bearer: RowHead, leaseUntil: Date): Promise<LeasedLane> {
    const filter = { ...laneFilter(bearer), state: "pending" as const };
    const options = { projection: sendableProjection };
    const find = (filter: Filter<DeliveryRow>, direction: 1 | -1, limit: number) =>
      this.#rows.find<RowHead>(filter, options).sort({ sequence: direction }).limit(limit).hint(laneIndex).toArray();
    const [oldest, newest, yieldedTo] = await Promise.all([
      find(filter, 1, laneRowsMax),
      find(filter, -1, 2),
      bearer.yieldedTo === undefined
        ? null
        : this.#rows.findOne<RowHead>({ ...filter, _id: bearer.yieldedTo }, options),
    ]);
    const pages = {
      oldest: oldest.map(toSendable),
      newest: newest.map(toSendable).toReversed(),
      yieldedTo: yieldedTo ? toSendable(yieldedTo) : undefined,
    };
    const untried = needsUntried(pages)
      ? { untried: (await find({ ...filter, isRefused: { $exists: false } }, 1, laneRowsMax)).map(toSendable) }
      : {};
    const loaded = assembleLane({ ...pages, ...untried }, laneRowsMax);
    return toLeasedLane(bearer, loaded, { leaseUntil, dueAt: new Date() });
  }

  /**
   * Of lanes whose bearer was just stored with a lease, finds those with older undelivered rows.
   * Such a lane lacked a bearer when the new one was stored: the previous bearer had just ended,
   * and no process had appointed one of the older rows yet. An older row is stored later only for a
   * snapshot that is sent again, and `endOutrun` ends that row. Reads nothing for the first
   * snapshots of documents.
   */
  async withOlder(lanes: readonly LeasedLane[]): Promise<LeasedLane[]> {
    const later = lanes.filter(({ state: { rows } }) => (rows[0]?.sequence ?? 0) > 1);
    const first = new Map(later.flatMap(({ state: { rows } }) => rows.slice(0, 1).map((row) => [laneKey(row), row])));
    if (first.size === 0) return [];
    const among = (key: keyof Lane) => ({ $in: [...new Set(Array.from(first.values(), (row) => row[key]))] });
    const filter = { tenantId: among("tenantId"), documentId: among("documentId"), endpointId: among("endpointId") };
    const projection = { tenantId: 1, documentId: 1, endpointId: 1, sequence: 1, signingNumber: 1 };
    const found = await this.#rows
      .find<RowHead>(
        { ...filter, state: "pending", nextAttemptAt: { $exists: false } },
        { projection, batchSize: rowsMax, hint: laneIndex },
      )
      .toArray();
    const isOlder = (row: RowHead) => compareRows(row, first.get(laneKey(row)) ?? row) < 0;
    const keys = new Set(found.filter(isOlder).map(laneKey));
    return later.filter(({ state: { rows } }) => rows[0] !== undefined && keys.has(laneKey(rows[0])));
  }

  /** Adds rows that are newer than the known ones, as far as `laneRowsMax` and `arrive` allow. */
  async loadArrivals(lane: LeasedLane): Promise<LeasedLane> {
    const newest = lane.state.rows.toSorted(compareRows).at(-1);
    if (!newest) return lane;
    const filter = { ...laneFilter(newest), state: "pending" as const, sequence: { $gte: newest.sequence } };
    const found = await this.#rows
      .find<RowHead>(filter, { projection: sendableProjection })
      .sort({ sequence: 1 })
      .limit(laneRowsMax)
      .hint(laneIndex)
      .toArray();
    const hasMore = lane.state.hasMore || found.length === laneRowsMax;
    const isTailEnd = lane.state.isTailEnd && found.length < laneRowsMax;
    return { ...lane, state: { ...arrive(lane.state, found.map(toSendable), new Date()), hasMore, isTailEnd } };
  }
}
