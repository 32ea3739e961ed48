import type { CollectionIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection } from "mongodb";
import { hourMs, type StoredState } from "../domain/delivery-log.ts";
import { pendingIndex } from "./delivery-indexes.ts";
import type { DeliveryRow } from "./rows.ts";

interface CountQuery {
  readonly tenantId: string;
  readonly endpointIds: readonly string[];
  readonly state: StoredState;
  /** The beginning of an hour in UTC. */
  readonly since: Date;
  readonly until: Date;
}

export interface HourCount {
  readonly count: number;
  readonly hasMore: boolean;
}

/** Counting stops here; the console shows more as "10,000+". */
const countMax = 10_000;
/** MongoDB ends a command that takes longer. */
const countMsMax = 5_000;

const finishedIndex = "finished_by_time";

/**
 * Has every field by which finished rows are counted, so that no row is read. An entry takes 35
 * bytes of disk.
 */
export const countIndexes = {
  [finishedIndex]: {
    key: { tenantId: 1, endpointId: 1, state: 1, endedAt: -1 },
    partialFilterExpression: { endedAt: { $exists: true } },
  },
} as const satisfies CollectionIndexes;

/** Counts pending deliveries by the hour of `createdAt`, and the others by that of `endedAt`. */
export class DeliveryCountStore {
  readonly #rows: Collection<DeliveryRow>;

  constructor(rows: Collection<DeliveryRow>) {
    this.#rows = rows;
  }

  /**
   * From an hour's first instant, in milliseconds since 1970, to its count; hours without
   * deliveries are left out. Takes one command when there are 10,000 deliveries at most, and
   * otherwise at most one for each hour.
   */
  async count(query: CountQuery): Promise<ReadonlyMap<number, HourCount>> {
    const counts = new Map<number, HourCount>();
    if (query.endpointIds.length === 0) return counts;
    let until = query.until;
    while (until > query.since) {
      const found = await this.#newest({ ...query, until });
      const total = found.reduce((sum, { count }) => sum + count, 0);
      for (const { hour, count } of found) counts.set(hour.getTime(), { count, hasMore: false });
      const oldest = found.at(-1);
      if (!oldest || total <= countMax) break;
      // The oldest hour may have more deliveries than were read. When it is the only one it exceeds
      // the limit; otherwise it is read again.
      const isAlone = found.length === 1;
      if (isAlone) counts.set(oldest.hour.getTime(), { count: countMax, hasMore: true });
      until = isAlone ? oldest.hour : new Date(oldest.hour.getTime() + hourMs);
    }
    return counts;
  }

  /**
   * How many of the newest deliveries each hour has, newest hour first. Reads one delivery more
   * than are counted, to see whether there are more.
   */
  async #newest({ tenantId, endpointIds, state, since, until }: CountQuery) {
    const [column, hint] = state === "pending" ? ["createdAt", pendingIndex] : ["endedAt", finishedIndex];
    const pipeline = [
      { $match: { tenantId, endpointId: { $in: [...endpointIds] }, state, [column]: { $gte: since, $lt: until } } },
      { $sort: { [column]: -1 } },
      { $limit: countMax + 1 },
      { $group: { _id: { $dateTrunc: { date: `$${column}`, unit: "hour" } }, count: { $sum: 1 } } },
      { $sort: { _id: -1 } },
    ];
    const found = this.#rows.aggregate<{ _id: Date; count: number }>(pipeline, { hint, maxTimeMS: countMsMax });
    return (await found.toArray()).map(({ _id: hour, count }) => ({ hour, count }));
  }
}
