import type { Verdict } from "./delivery.ts";
import { nextAttemptAt, type RetryPlan } from "./retry-plan.ts";

/** An undelivered row of a lane. */
export interface LaneRow {
  readonly deliveryId: string;
  readonly sequence: number;
  readonly signingNumber: number;
  readonly createdAt: Date;
  /** Steps of the backoff that the row has taken. Not every failure takes one. */
  readonly retryCount: number;
  /** Whether the endpoint has ever refused it. */
  readonly isRefused: boolean;
}

/** A lane in memory. Besides its rows only `yieldedTo`, `dueAt` and `isExpedited` are stored. */
export interface LaneState<Row extends LaneRow> {
  /** Undelivered rows, oldest first. */
  readonly rows: readonly Row[];
  /**
   * Number of rows at the beginning of `rows` between which no row of the lane is missing. Rows may
   * be missing before and between the later ones.
   */
  readonly contiguous: number;
  /** Whether there may be undelivered rows that are not in `rows`. */
  readonly hasMore: boolean;
  /**
   * Whether all rows of the lane that are missing between those in `rows` were refused; a refused
   * row may then yield to the first one after them.
   */
  readonly isTailNext: boolean;
  /** Whether the last one of `rows` is the lane's newest undelivered row. */
  readonly isTailEnd: boolean;
  /**
   * Delivery id of the row to which all older ones have yielded; absent when the oldest row is the
   * next one.
   */
  readonly yieldedTo?: string;
  /**
   * Whether the receiver may have a row to which older ones yielded: the lane was claimed after
   * they yielded, or an attempt has failed. The older rows are then not sent again.
   */
  readonly isUncertain: boolean;
  readonly dueAt: Date;
  /**
   * Whether the lane was expedited before its backoff ended. Its next attempt then costs no step of
   * the backoff.
   */
  readonly isExpedited: boolean;
}

/** The outcome of an attempt at `subjectOf(lane)`. */
export interface LaneAttempt {
  readonly verdict: Verdict;
  readonly endedAt: Date;
  readonly retryAfterMs?: number | undefined;
  /** Whether it was a probe of an open breaker. A probe costs no step of the backoff. */
  readonly isProbe: boolean;
  /** When the endpoint was last enabled; the age of rows counts from here at the earliest. */
  readonly enabledAt?: Date | undefined;
}

/** What an attempt changes in a lane. The step must be journaled before the next row is sent. */
export interface LaneStep<Row extends LaneRow> {
  readonly lane: LaneState<Row>;
  /** The attempted row. If it remains in the lane, its new values are in `changed`. */
  readonly attempted: Row;
  /**
   * The rows that remain in the lane and whose `retryCount` or `isRefused` the step may change,
   * with the new values.
   */
  readonly changed: readonly Row[];
  readonly ended: readonly { readonly row: Row; readonly state: FinalState }[];
  /**
   * The final state of all rows older than the attempted one, including those not in memory; absent
   * when they do not end.
   */
  readonly olderEnd?: FinalState;
  /**
   * `attempt`: the lane's next row may be sent once the step is journaled. `wait`: not before
   * `lane.dueAt`. `empty`: no row is left. `unknown`: the next row is not in memory.
   */
  readonly next: "attempt" | "wait" | "empty" | "unknown";
}

/**
 * `superseded`: a newer snapshot was accepted, the endpoint's filter excludes a newer one, or a
 * newer one was stored before this one could be sent again after a revocation.
 */
type FinalState = "delivered" | "superseded" | "exhausted";

/** Orders the rows of a lane, oldest first. */
export function compareRows(a: Pick<LaneRow, "sequence" | "signingNumber">, b: typeof a): number {
  return a.sequence - b.sequence || a.signingNumber - b.signingNumber;
}

/** The row to send next: the one to which older ones yielded, else the oldest. */
export function subjectOf<Row extends LaneRow>({ rows, yieldedTo }: LaneState<Row>): Row | undefined {
  if (yieldedTo === undefined) return rows[0];
  return rows.find(({ deliveryId }) => deliveryId === yieldedTo) ?? rows[0];
}

/**
 * Adds newer rows, which makes the lane due at once. Changes nothing when the lane's newest rows
 * are not in memory, because the new rows come after those.
 *
 * @param rows newer than all rows of the lane; rows that the lane has already are ignored
 */
export function arrive<Row extends LaneRow>(lane: LaneState<Row>, rows: readonly Row[], now: Date): LaneState<Row> {
  const known = new Set(lane.rows.map(({ deliveryId }) => deliveryId));
  const added = rows.filter(({ deliveryId }) => !known.has(deliveryId)).toSorted(compareRows);
  if (added.length === 0 || !lane.isTailEnd) return lane;
  const contiguous = lane.hasMore ? lane.contiguous : lane.rows.length + added.length;
  const isExpedited = lane.isExpedited || lane.dueAt > now;
  return {
    ...lane,
    rows: [...lane.rows, ...added],
    contiguous,
    dueAt: lane.dueAt > now ? now : lane.dueAt,
    isExpedited,
  };
}

/**
 * Decides what follows from an attempt at `subjectOf(lane)`.
 *
 * - Accepted: all older rows are superseded. They were refused, and an older sequence is never sent
 *   after a newer one was accepted. The next row is sent.
 * - Refused: the lane yields to the next row that was never refused, else to the newest one. When
 *   the refused row is itself the newest one, the oldest row waits for its backoff; but if older
 *   rows have yielded and `isUncertain` is set, the refused row waits.
 * - Failed: the same row remains the next one and waits for its backoff, because the receiver may
 *   have it.
 *
 * @param random from 0 to 1, for the jitter of the backoff
 */
export function advance<Row extends LaneRow>(
  lane: LaneState<Row>,
  attempt: LaneAttempt,
  plan: RetryPlan,
  random: number,
): LaneStep<Row> {
  const subject = subjectOf(lane);
  if (!subject) throw new RangeError("a lane without rows has no attempts");
  if (attempt.verdict === "accepted") return accept(lane, subject, attempt);
  return attempt.verdict === "refused"
    ? refuse(lane, subject, attempt, plan, random)
    : fail(lane, subject, attempt, plan, random);
}

function accept<Row extends LaneRow>(lane: LaneState<Row>, subject: Row, { endedAt }: LaneAttempt): LaneStep<Row> {
  const at = lane.rows.indexOf(subject);
  const older = lane.rows.slice(0, at).map((row) => ({ row, state: "superseded" as const }));
  const step = end(lane, subject, [...older, { row: subject, state: "delivered" }], endedAt);
  return { ...step, olderEnd: "superseded" };
}

function refuse<Row extends LaneRow>(
  lane: LaneState<Row>,
  subject: Row,
  attempt: LaneAttempt,
  plan: RetryPlan,
  random: number,
): LaneStep<Row> {
  const refused = { ...subject, isRefused: true };
  const rows = replace(lane.rows, refused);
  const heir = heirOf({ ...lane, rows }, refused);
  if (heir) {
    const yielded = { ...lane, rows, yieldedTo: heir.deliveryId };
    return { lane: yielded, attempted: subject, changed: [refused], ended: [], next: "attempt" };
  }
  if (heir === undefined) return look(lane, subject, refused, attempt);
  if (lane.yieldedTo !== undefined && lane.isUncertain) return stay({ ...lane, rows }, refused, attempt, plan, random);
  const { yieldedTo: _, ...walked } = { ...lane, rows };
  const [oldest = refused] = rows;
  const waiting = backOff(walked, oldest, attempt, plan, random);
  const changed = oldest === refused ? [] : [refused];
  if (!waiting) return { ...end(walked, subject, [{ row: oldest, state: "exhausted" }], attempt.endedAt), changed };
  return { lane: waiting.lane, attempted: subject, changed: [...changed, waiting.row], ended: [], next: "wait" };
}

/**
 * The row to which a refused one yields; null when there is none, undefined when it is not in
 * memory.
 */
function heirOf<Row extends LaneRow>(lane: LaneState<Row>, refused: Row): Row | null | undefined {
  const { rows, contiguous, hasMore, isTailNext, isTailEnd } = lane;
  const newer = rows.slice(rows.indexOf(refused) + 1);
  const heir = newer.find(({ isRefused }) => !isRefused) ?? (isTailEnd ? newer.at(-1) : undefined);
  const isBeyondGap = hasMore && rows.indexOf(refused) < contiguous && (!heir || rows.indexOf(heir) >= contiguous);
  if (isBeyondGap && !isTailNext) return undefined;
  return heir ?? (isTailEnd ? null : undefined);
}

/** The step when the next row must be read from the database. */
function look<Row extends LaneRow>(
  lane: LaneState<Row>,
  subject: Row,
  refused: Row,
  { endedAt }: LaneAttempt,
): LaneStep<Row> {
  const { yieldedTo, ...rest } = { ...lane, rows: replace(lane.rows, refused), dueAt: endedAt };
  const kept = yieldedTo !== undefined && lane.isUncertain ? { ...rest, yieldedTo } : rest;
  return { lane: kept, attempted: subject, changed: [refused], ended: [], next: "wait" };
}

function fail<Row extends LaneRow>(
  lane: LaneState<Row>,
  subject: Row,
  attempt: LaneAttempt,
  plan: RetryPlan,
  random: number,
): LaneStep<Row> {
  return stay({ ...lane, isUncertain: true }, subject, attempt, plan, random);
}

/**
 * The step when the attempted row remains the next one and waits, or ends because it is too old.
 */
function stay<Row extends LaneRow>(
  lane: LaneState<Row>,
  subject: Row,
  attempt: LaneAttempt,
  plan: RetryPlan,
  random: number,
): LaneStep<Row> {
  const waiting = backOff(lane, subject, attempt, plan, random);
  if (waiting) return { lane: waiting.lane, attempted: subject, changed: [waiting.row], ended: [], next: "wait" };
  // Rows that yielded to this one are older and must not be sent after it, so they end with it.
  const at = lane.rows.findIndex(({ deliveryId }) => deliveryId === subject.deliveryId);
  const ended = lane.rows.slice(0, at + 1).map((row) => ({ row, state: "exhausted" as const }));
  return { ...end(lane, subject, ended, attempt.endedAt), olderEnd: "exhausted" };
}

/**
 * A row that waits for its backoff, and its lane meanwhile; undefined when the row is too old for
 * another attempt.
 */
function backOff<Row extends LaneRow>(
  lane: LaneState<Row>,
  row: Row,
  attempt: LaneAttempt,
  plan: RetryPlan,
  random: number,
) {
  const { endedAt, retryAfterMs, isProbe } = attempt;
  const retryCount = lane.isExpedited || isProbe ? row.retryCount : row.retryCount + 1;
  const failed = { attempt: Math.max(1, retryCount), since: agesFrom(row, attempt), endedAt, retryAfterMs };
  const dueAt = nextAttemptAt(plan, failed, random) ?? (isProbe ? lastAttemptAt(plan, row, attempt) : undefined);
  if (!dueAt) return undefined;
  const waiting = { ...row, retryCount };
  return { row: waiting, lane: { ...lane, rows: replace(lane.rows, waiting), dueAt, isExpedited: false } };
}

/**
 * The end of a row's time; undefined when it has passed. A failed probe gives the row up only after
 * that time, because the next probe may come earlier than the next attempt of the backoff would.
 */
function lastAttemptAt({ ageMsMax }: RetryPlan, row: LaneRow, attempt: LaneAttempt): Date | undefined {
  const at = new Date(agesFrom(row, attempt).getTime() + ageMsMax);
  return at > attempt.endedAt ? at : undefined;
}

function agesFrom({ createdAt }: LaneRow, { enabledAt }: LaneAttempt): Date {
  return enabledAt && enabledAt > createdAt ? enabledAt : createdAt;
}

/** Ends the lane's first rows. The others are due at once. */
function end<Row extends LaneRow>(
  lane: LaneState<Row>,
  attempted: Row,
  ended: LaneStep<Row>["ended"],
  dueAt: Date,
): LaneStep<Row> {
  const { yieldedTo: _, rows, contiguous: before, hasMore, ...rest } = lane;
  const count = ended.length;
  const contiguous = Math.max(0, before - count);
  const isUnknown = hasMore && contiguous === 0;
  const left = isUnknown ? [] : rows.slice(count);
  const isDelivered = ended.some(({ state }) => state === "delivered");
  const next = isUnknown ? "unknown" : left.length === 0 ? "empty" : isDelivered ? "attempt" : "wait";
  return {
    lane: { ...rest, rows: left, contiguous, hasMore, dueAt, isExpedited: false, isUncertain: false },
    attempted,
    changed: [],
    ended,
    next,
  };
}

function replace<Row extends LaneRow>(rows: readonly Row[], changed: Row): Row[] {
  return rows.map((row) => (row.deliveryId === changed.deliveryId ? changed : row));
}
