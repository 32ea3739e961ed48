import {
  advance,
  arrive,
  compareRows,
  type LaneRow,
  type LaneState,
  type LaneStep,
  subjectOf,
} from "../../src/domain/advance-lane.ts";
import { assembleLane, needsUntried } from "../../src/domain/lane-pages.ts";
import type { RetryPlan } from "../../src/domain/retry-plan.ts";

/** `lostAnswer`: the receiver accepts the webhook, and the sender gets no answer. */
export type Reaction = "accepted" | "refused" | "failed" | "lostAnswer";

export type Fate = "pending" | "delivered" | "superseded" | "exhausted";

interface JournalRow extends LaneRow {
  fate: Fate;
  /** By the model's `now`; absent while the row is pending. */
  endedAt?: number;
}

const plan: RetryPlan = { delaysMs: [10, 40], ageMsMax: 400 };
/** Small, so that lanes need several pages. */
const pageRows = 3;

/** A lane in the memory of a process. `generation` is outdated once the process lost the lease. */
interface InHand {
  readonly generation: number;
  readonly lane: LaneState<LaneRow>;
}

/**
 * One lane in memory: its journal, its receiver, and the processes that work on it. The model
 * writes the journal as the stores do, and throws when webhooks are posted out of order. It checks
 * `advance-lane.ts` without the stores, so that a test can run thousands of long histories; the
 * scripts of `test/support/model` include the stores and run on a real mongod.
 */
export class LaneModel {
  readonly rows: JournalRow[] = [];
  readonly posts: number[] = [];
  now = 1_000_000;
  #newestReceived = 0;
  #generation = 0;
  #isFollowed = false;
  #mark: { yieldedTo?: string; isExpedited: boolean } = { isExpedited: false };
  #dueAt = new Date(0);

  get pending(): JournalRow[] {
    return this.rows.filter(({ fate }) => fate === "pending").toSorted(compareRows);
  }

  /** A snapshot is committed and its row stored, which makes the lane due. */
  arrive(): void {
    const sequence = this.rows.length + 1;
    const createdAt = new Date(this.now);
    this.rows.push({
      deliveryId: `d${sequence}`,
      sequence,
      signingNumber: 1,
      createdAt,
      retryCount: 0,
      isRefused: false,
      fate: "pending",
    });
    this.#isFollowed = true;
    if (this.#dueAt > createdAt) {
      this.#dueAt = createdAt;
      this.#mark = { ...this.#mark, isExpedited: true };
    }
  }

  get isDue(): boolean {
    return this.pending.length > 0 && this.#dueAt.getTime() <= this.now;
  }

  /** A process takes the lease: of an idle lane, or of one whose process died or stopped. */
  claim(): InHand {
    this.#generation += 1;
    this.#isFollowed = false;
    return { generation: this.#generation, lane: this.#load() };
  }

  #load(): LaneState<LaneRow> {
    const all = this.pending;
    const isUncertain = this.#mark.yieldedTo !== undefined;
    const mark = { isUncertain, dueAt: this.#dueAt, ...this.#mark };
    if (all.length <= pageRows + 1) {
      return { rows: all, contiguous: all.length, hasMore: false, isTailNext: true, isTailEnd: true, ...mark };
    }
    const pages = {
      oldest: all.slice(0, pageRows),
      newest: all.slice(-2),
      yieldedTo: all.find(({ deliveryId }) => deliveryId === this.#mark.yieldedTo),
    };
    const untried = all.filter(({ isRefused }) => !isRefused).slice(0, pageRows);
    return { ...assembleLane(needsUntried(pages) ? { ...pages, untried } : pages, pageRows), ...mark };
  }

  /**
   * @throws Error when the receiver has accepted a newer webhook, or an older row waits that has
   * not yielded to the posted one
   */
  post({ lane }: InHand, reaction: Reaction): void {
    const subject = subjectOf(lane);
    if (!subject) throw new Error("nothing to post");
    const { sequence, deliveryId } = subject;
    if (this.#newestReceived > sequence)
      throw new Error(`${sequence} is sent after ${this.#newestReceived} was accepted`);
    for (const row of this.pending) {
      const isJournaled = row.isRefused && this.#mark.yieldedTo === deliveryId;
      if (row.sequence < sequence && !isJournaled) throw new Error(`${sequence} is sent while ${row.sequence} waits`);
    }
    this.posts.push(sequence);
    if (reaction === "accepted" || reaction === "lostAnswer") this.#newestReceived = sequence;
  }

  /** @returns the lane if its next row may be sent at once; undefined also after a lost lease */
  journal(held: InHand, reaction: Reaction, random: number): InHand | undefined {
    if (held.generation !== this.#generation) return undefined;
    const lane = this.#isFollowed ? this.#withArrivals(held.lane) : held.lane;
    this.#isFollowed = false;
    const verdict = reaction === "lostAnswer" ? "failed" : reaction;
    const step = advance(lane, { verdict, endedAt: new Date(this.now), isProbe: false }, plan, random);
    this.#write(step);
    this.#generation += 1;
    return step.next === "attempt" ? { generation: this.#generation, lane: step.lane } : undefined;
  }

  #withArrivals(lane: LaneState<LaneRow>): LaneState<LaneRow> {
    const newest = lane.rows.at(-1)?.sequence ?? 0;
    return arrive(
      lane,
      this.pending.filter(({ sequence }) => sequence > newest),
      new Date(this.now),
    );
  }

  #write({ lane, attempted, changed, ended, olderEnd }: LaneStep<LaneRow>): void {
    for (const { row, state } of ended) Object.assign(this.#row(row), { fate: state, endedAt: this.now });
    for (const row of changed) Object.assign(this.#row(row), { retryCount: row.retryCount, isRefused: row.isRefused });
    const older = olderEnd ? this.pending.filter((row) => compareRows(row, attempted) < 0) : [];
    for (const row of older) Object.assign(row, { fate: olderEnd, endedAt: this.now });
    this.#dueAt = lane.dueAt;
    const { yieldedTo, isExpedited } = lane;
    this.#mark = yieldedTo === undefined ? { isExpedited } : { yieldedTo, isExpedited };
  }

  #row({ deliveryId }: LaneRow): JournalRow {
    const row = this.rows.find((each) => each.deliveryId === deliveryId);
    if (!row) throw new Error(`${deliveryId} is not stored`);
    return row;
  }
}
