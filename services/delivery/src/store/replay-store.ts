import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import type { ClientSession, Collection, Db, Filter } from "mongodb";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Replay, ReplayCounts } from "../domain/delivery-log.ts";
import type { ReplayRow } from "./rows.ts";

const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 30 * dayMs;

/** A replay that this process works on. Each claim has its own id, which writes match. */
export interface ClaimedReplay {
  readonly replay: Replay;
  readonly claim: string;
}

const ofEndpointIndex = "of_endpoint";

export class ReplayStore {
  static readonly indexes = {
    replays: {
      // One running replay for each endpoint: two would send the same document's snapshots at the
      // same time.
      running: { key: { endpointId: 1 }, unique: true, partialFilterExpression: { state: "running" } },
      lease: { key: { leaseUntil: 1 }, partialFilterExpression: { state: "running" } },
      [ofEndpointIndex]: { key: { tenantId: 1, endpointId: 1, _id: -1 } },
      expiry: { key: { expiresAt: 1 }, expireAfterSeconds: 0 },
    },
  } as const satisfies DatabaseIndexes;
  readonly #db: Db;
  readonly #replays: Collection<ReplayRow>;
  /** With a session, `insert` and `cancel` are part of its transaction; nothing else ever is. */
  readonly #options: { readonly session?: ClientSession };

  constructor(db: Db, session?: ClientSession) {
    this.#db = db;
    this.#replays = db.collection("replays");
    this.#options = session ? { session } : {};
  }

  within(session: ClientSession): Pick<ReplayStore, "insert" | "cancel"> {
    return new ReplayStore(this.#db, session);
  }

  /** Rejects with a duplicate key while another replay of the endpoint runs. */
  async insert(replay: Replay): Promise<void> {
    await this.#replays.insertOne(toRow(replay), this.#options);
  }

  async findRunning(tenantId: string, endpointId: string): Promise<Replay | undefined> {
    const row = await this.#replays.findOne({ tenantId, endpointId, state: "running" }, { hint: "running" });
    return row ? fromRow(row) : undefined;
  }

  /**
   * The replays of an endpoint, newest first. @param after id of the last replay of the page before
   */
  async list(
    tenantId: string,
    endpointId: string,
    limit: number,
    after?: string,
    signal?: AbortSignal,
  ): Promise<Replay[]> {
    const filter = { tenantId, endpointId, ...(after === undefined ? {} : { _id: { $lt: after } }) };
    const options = { limit, hint: ofEndpointIndex, ...(signal ? { signal } : {}) };
    return (await this.#replays.find(filter, options).sort({ _id: -1 }).toArray()).map(fromRow);
  }

  async find(tenantId: string, replayId: string): Promise<Replay | undefined> {
    const row = await this.#replays.findOne({ _id: replayId, tenantId });
    return row ? fromRow(row) : undefined;
  }

  /**
   * Leases a running replay that nobody works on, the one that has waited longest.
   *
   * @param lastOf tenants whose replays are leased only when no other tenant's replay can be
   */
  async claim(now: Date, until: Date, lastOf: readonly string[]): Promise<ClaimedReplay | undefined> {
    const others = lastOf.length > 0 ? await this.#claim(now, until, { tenantId: { $nin: [...lastOf] } }) : undefined;
    return others ?? this.#claim(now, until, {});
  }

  async #claim(now: Date, until: Date, of: Filter<ReplayRow>): Promise<ClaimedReplay | undefined> {
    const claim = uuidv7();
    const row = await this.#replays.findOneAndUpdate(
      { ...of, state: "running", leaseUntil: { $lte: now } },
      { $set: { holder: claim, leaseUntil: until } },
      { sort: { leaseUntil: 1 }, returnDocument: "after" },
    );
    return row ? { replay: fromRow(row), claim } : undefined;
  }

  /** @returns false when another process has the lease, or the replay has ended */
  async renew(claimed: ClaimedReplay, until: Date): Promise<boolean> {
    const { matchedCount } = await this.#replays.updateOne(mine(claimed), { $set: { leaseUntil: until } });
    return matchedCount === 1;
  }

  /** Ends the lease. The replay's next turn may start at `at`. */
  async release(claimed: ClaimedReplay, at: Date, failedTurns: number): Promise<void> {
    await this.#replays.updateOne(mine(claimed), { $set: { leaseUntil: at, failedTurns } });
  }

  /**
   * Notes that a page is done. @returns false when another process has the lease, or the replay has
   * ended
   */
  async advance(
    claimed: ClaimedReplay,
    pageToken: string,
    counts: ReplayCounts,
    reached: Date | undefined,
  ): Promise<boolean> {
    const update = { $set: { pageToken, counts, ...(reached ? { reached } : {}) } };
    const { matchedCount } = await this.#replays.updateOne(mine(claimed), update);
    return matchedCount === 1;
  }

  /** Ends a replay; has no effect when another process has the lease, or the replay has ended. */
  async finish(claimed: ClaimedReplay, state: "done" | "cancelled", now: Date): Promise<void> {
    await this.#replays.updateOne(mine(claimed), { $set: ended(state, now) });
  }

  /** Ends a running replay, whoever works on it. @returns false when no replay with that id runs */
  async cancel(tenantId: string, replayId: string, now: Date): Promise<boolean> {
    const update = { $set: ended("cancelled", now) };
    const filter = { _id: replayId, tenantId, state: "running" as const };
    return (await this.#replays.updateOne(filter, update, this.#options)).matchedCount === 1;
  }
}

function mine({ replay, claim }: ClaimedReplay): Filter<ReplayRow> {
  return { _id: replay.replayId, state: "running", holder: claim };
}

function ended(state: "done" | "cancelled", now: Date) {
  return { state, endedAt: now, expiresAt: new Date(now.getTime() + keptMs) };
}

function toRow({ replayId, states, documentTypes, ...replay }: Replay): ReplayRow {
  const types = documentTypes ? { documentTypes: [...documentTypes] } : {};
  return { _id: replayId, ...replay, ...types, states: [...states], leaseUntil: new Date(0) };
}

function fromRow(row: ReplayRow): Replay {
  const { _id: replayId, tenantId, endpointId, since, until, states, latestOnly, documentTypes } = row;
  const { state, pageToken, counts, failedTurns, reached, createdAt, endedAt } = row;
  const range = { ...(since ? { since } : {}), until, states, latestOnly, ...(documentTypes ? { documentTypes } : {}) };
  const progress = {
    state,
    pageToken,
    counts,
    failedTurns,
    ...(reached ? { reached } : {}),
    ...(endedAt ? { endedAt } : {}),
  };
  return { replayId, tenantId, endpointId, ...range, ...progress, createdAt };
}
