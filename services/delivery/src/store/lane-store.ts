import type { Collection } from "mongodb";
import { randomUUID } from "node:crypto";
import type { Lane } from "../domain/delivery.ts";
import { laneKey } from "../domain/delivery.ts";
import { dueIndex, laneFilter } from "./delivery-indexes.ts";
import type { LeasedLane, RowHead } from "./delivery-rows.ts";
import { LaneBearers } from "./lane-bearers.ts";
import { LaneEndings } from "./lane-endings.ts";
import { LaneLoader } from "./lane-loader.ts";
import { type Backlog, type EndpointDue, readBacklog, readSchedule } from "./lane-schedule.ts";
import type { DeliveryRow } from "./rows.ts";

/**
 * A lane to be attempted soon, mostly because a row was stored, or may have been stored, behind its
 * bearer. Others are lanes of a redelivery, and lanes whose endpoint was enabled during an attempt.
 */
export interface Arrival extends Lane {
  /**
   * Commit time of a snapshot whose row an earlier ingest stored: the process of that ingest may
   * have died before it expedited the lane. A bearer that was attempted after this time keeps its
   * backoff. When absent, the lane is due at once, because no attempt so far has known of the new
   * row, the redelivery or the enabling.
   */
  readonly knownSince?: Date;
}

export interface ClaimScope {
  readonly endpointId: string;
  /** Latest due time; absent for a probe, which also takes lanes in backoff, but no leased one. */
  readonly dueBy?: Date;
  readonly limit: number;
  /** Delivery ids of bearers to leave out. */
  readonly without?: readonly string[];
}

/** The lanes in `deliveries` as a queue for any number of processes. */
export class LaneStore {
  readonly #rows: Collection<DeliveryRow>;
  readonly #loader: LaneLoader;
  readonly #bearers: LaneBearers;
  readonly #endings: LaneEndings;
  readonly #holder: string;

  /** @param holder id of this process in its leases */
  constructor(rows: Collection<DeliveryRow>, holder: string) {
    this.#rows = rows;
    this.#loader = new LaneLoader(this.#rows);
    this.#bearers = new LaneBearers(this.#rows);
    this.#endings = new LaneEndings(this.#rows);
    this.#holder = holder;
  }

  async schedule(): Promise<EndpointDue[]> {
    return readSchedule(this.#rows);
  }

  /**
   * Leases an endpoint's lanes, longest due first, and loads them.
   *
   * @param mayTake asked for each bearer in this order, before any is leased; from the first
   * refusal on, the bearers stay without a lease
   */
  async claim(
    { endpointId, dueBy, limit, without = [] }: ClaimScope,
    leaseUntil: Date,
    mayTake: (bearer: RowHead) => boolean = () => true,
  ): Promise<LeasedLane[]> {
    const due = dueBy ? { nextAttemptAt: { $lte: dueBy } } : unleased(new Date());
    const others = without.length > 0 ? { _id: { $nin: [...without] } } : {};
    const found = this.#rows.find<RowHead>({ endpointId, ...due, ...others }, { projection: { attempts: 0 }, limit });
    const bearers = await found.sort({ nextAttemptAt: 1 }).hint(dueIndex).toArray();
    const refused = bearers.findIndex((bearer) => !mayTake(bearer));
    const leased = await this.#lease(refused === -1 ? bearers : bearers.slice(0, refused), leaseUntil);
    try {
      return await this.#load(leased, leaseUntil);
    } catch (error) {
      // Without the release the lanes would wait until their leases end.
      await this.#releaseBearers(
        leased.map(({ _id, generation }) => ({ deliveryId: _id, generation })),
        new Date(),
      );
      throw error;
    }
  }

  async #load(bearers: readonly RowHead[], leaseUntil: Date): Promise<LeasedLane[]> {
    const loaded = await this.#loader.load(bearers, leaseUntil);
    const { doubtful = [], sound = [] } = Object.groupBy(loaded, ({ state: { rows, yieldedTo } }) => {
      const isThere = yieldedTo === undefined || rows.some(({ deliveryId }) => deliveryId === yieldedTo);
      return isThere ? "sound" : "doubtful";
    });
    return doubtful.length === 0 ? sound : [...sound, ...(await this.#endings.endYielded(doubtful, new Date()))];
  }

  /** Leases those bearers whose generation is unchanged since they were read. */
  async #lease(bearers: RowHead[], until: Date): Promise<RowHead[]> {
    if (bearers.length === 0) return [];
    const token = randomUUID();
    const update = {
      $set: { lease: { holder: this.#holder, until, token }, nextAttemptAt: until },
      $unset: { isFollowed: 1 as const },
      $inc: { generation: 1 },
    };
    // One statement for each row would cost three times as much.
    const operations = Array.from(
      Map.groupBy(bearers, ({ generation }) => generation),
      ([generation, rows]) => {
        const filter = { _id: { $in: rows.map(({ _id }) => _id) }, generation, nextAttemptAt: { $gt: new Date(0) } };
        return { updateMany: { filter, update } };
      },
    );
    const { modifiedCount } = await this.#rows.bulkWrite(operations, { ordered: false });
    const mine = modifiedCount === bearers.length ? bearers : await this.#leased(bearers, token);
    for (const row of mine) row.generation += 1;
    return mine;
  }

  async #leased(bearers: readonly RowHead[], token: string): Promise<RowHead[]> {
    const filter = { _id: { $in: bearers.map(({ _id }) => _id) }, "lease.token": token };
    const found = await this.#rows.find(filter, { projection: { _id: 1 } }).toArray();
    const leased = new Set(found.map(({ _id }) => _id));
    return bearers.filter(({ _id }) => leased.has(_id));
  }

  /**
   * Of lanes that this process has just stored with their lease, returns those with older
   * undelivered rows.
   */
  async withOlder(lanes: readonly LeasedLane[]): Promise<LeasedLane[]> {
    return this.#loader.withOlder(lanes);
  }

  /** Adds rows that were stored behind the lane's bearer since the claim. */
  async loadArrivals(lane: LeasedLane): Promise<LeasedLane> {
    const { deliveryId: _id, generation } = lane.bearer;
    await this.#rows.updateOne({ _id, generation }, { $unset: { isFollowed: 1 } });
    return this.#loader.loadArrivals(lane);
  }

  /** @returns whether this process still had the lease */
  async renew({ bearer: { deliveryId, generation } }: LeasedLane, until: Date): Promise<boolean> {
    const filter = { _id: deliveryId, generation, "lease.holder": this.#holder };
    const { matchedCount } = await this.#rows.updateOne(filter, {
      $set: { nextAttemptAt: until, "lease.until": until },
    });
    return matchedCount === 1;
  }

  /** Ends leases without an attempt. The lanes are due at `at`. */
  async release(lanes: readonly LeasedLane[], at: Date): Promise<void> {
    await this.#releaseBearers(
      lanes.map(({ bearer }) => bearer),
      at,
    );
  }

  async #releaseBearers(bearers: readonly LeasedLane["bearer"][], at: Date): Promise<void> {
    if (bearers.length === 0) return;
    const update = {
      $set: { nextAttemptAt: at },
      $unset: { lease: 1 as const, isFollowed: 1 as const },
      $inc: { generation: 1 },
    };
    const operations = Array.from(
      Map.groupBy(bearers, ({ generation }) => generation),
      ([generation, rows]) => {
        const _id = { $in: rows.map(({ deliveryId }) => deliveryId) };
        return { updateMany: { filter: { _id, generation, "lease.holder": this.#holder }, update } };
      },
    );
    await this.#rows.bulkWrite(operations, { ordered: false });
  }

  /**
   * Makes lanes due at once, except for leased ones and those that keep their backoff by
   * `knownSince`. The row of a leased bearer tells the holder of the lease to load newer rows. A
   * lane without a bearer gets its oldest row as bearer.
   */
  async expedite(arrivals: readonly Arrival[], now: Date): Promise<void> {
    let untold = [...new Map(arrivals.toSorted(byAge).map((each) => [laneKey(each), each])).values()];
    // `appoint` returns lanes when some of them got a bearer meanwhile, maybe a leased one. The
    // next turn of the loop tells the holder of that lease, too.
    while (untold.length > 0 && !(await this.#tell(untold, now))) {
      untold = await this.#bearers.appoint(untold, now);
    }
  }

  /** @returns whether each lane had a bearer */
  async #tell(arrivals: readonly Arrival[], now: Date): Promise<boolean> {
    const operations = arrivals.map((arrival) => ({
      updateOne: { filter: { ...laneFilter(arrival), nextAttemptAt: present }, update: expedition(arrival, now) },
    }));
    const { matchedCount } = await this.#rows.bulkWrite(operations, { ordered: false });
    return matchedCount === operations.length;
  }

  /** Gives each of these lanes a bearer, due now, if it has undelivered rows and no bearer. */
  async appointBearers(lanes: readonly Lane[], now: Date): Promise<void> {
    await this.#bearers.appoint(lanes, now);
  }

  /** Gives a bearer to every lane that has lost its bearer. @returns the number of such lanes */
  async appointMissingBearers(now: Date): Promise<number> {
    return this.#bearers.appointMissing(now);
  }

  async backlog(without: readonly string[]): Promise<Backlog[]> {
    return readBacklog(this.#rows, without);
  }

  /**
   * Ends the backoffs of an endpoint that has recovered, has accepted a ping or was enabled: its
   * waiting lanes are due at once. Lanes with a lease stay as they are.
   */
  async expediteEndpoint(endpointId: string, now: Date): Promise<void> {
    await this.#rows.updateMany(
      { endpointId, nextAttemptAt: { $gt: now }, lease: absent },
      { $set: { nextAttemptAt: now, isExpedited: true } },
    );
  }
}

/** Orders arrivals by `knownSince`, those without it last. `expedite` uses a lane's last one. */
function byAge(a: Arrival, b: Arrival): number {
  return (a.knownSince?.getTime() ?? Number.MAX_VALUE) - (b.knownSince?.getTime() ?? Number.MAX_VALUE);
}

const absent = { $exists: false } as const;
const present = { $exists: true } as const;

/**
 * Matches bearers without a valid lease. The lease of a process that died stays in the row, so a
 * lease counts only until it runs out.
 */
const unleased = (now: Date) => {
  return { nextAttemptAt: { $gt: new Date(0) }, $or: [{ lease: absent }, { nextAttemptAt: { $lte: now } }] };
};

function expedition({ knownSince }: Arrival, now: Date) {
  const isLeased = { $gt: ["$lease.until", now] };
  const lastAttemptAt = { $ifNull: [{ $last: "$attempts.at" }, new Date(0)] };
  const wasAttempted = knownSince ? { $gte: [lastAttemptAt, knownSince] } : false;
  const stays = { $or: [isLeased, wasAttempted, { $lte: ["$nextAttemptAt", now] }] };
  return [
    {
      $set: {
        // Set also on a lease that has ended, because its holder may still renew the lease without
        // knowing the new row.
        isFollowed: { $cond: [{ $gt: ["$lease", null] }, true, "$$REMOVE"] },
        isExpedited: { $cond: [stays, { $ifNull: ["$isExpedited", "$$REMOVE"] }, true] },
        nextAttemptAt: { $cond: [stays, "$nextAttemptAt", now] },
      },
    },
  ];
}
