import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import { repeat } from "@vidimus/kit/service/repeat";
import { sleep } from "@vidimus/kit/service/sleep";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { Standstill } from "../replicas/standstill.ts";
import type { Ingest } from "./ingest-snapshots.ts";
import { referenceFromProto } from "../snapshots/references.ts";

interface ReconcilerDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "listPendingSnapshots">;
  readonly ingest: Pick<Ingest, "ingest" | "isInHand">;
  readonly bus: Pick<EventBus, "connectionNumber">;
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly log: Logger;
  /**
   * Interval of the walks. Snapshots younger than two intervals are left to the broker, unless its
   * messages may have been lost.
   */
  readonly intervalMs: number;
  /** Interval while the broker is not connected. These walks include the youngest snapshots. */
  readonly aloneMs: number;
  /**
   * Snapshots of other replicas' tenants are ingested when they are older than this, and the oldest
   * one of their tenant has been the same for as long.
   */
  readonly overdueMs: number;
}

/** Most pages in ingest at once; more than one, so that ingest always has a next batch. */
const pagesAhead = 4;

/**
 * Walks documents' pending snapshots and ingests those that are not in ingest already, so that a
 * lost message or a dead process loses no snapshot. The first walk starts at once, and another one
 * within `aloneMs` when the broker disconnects or connects again.
 */
export function startReconciler(deps: ReconcilerDeps): AsyncDisposable {
  // Number of the broker connection at the start of the last walk.
  let connection: number | undefined;
  // That number for the last walk without a fault. When the connection is another one now, messages
  // may have been lost, so the next walk includes the youngest snapshots.
  let walkedOver: number | undefined;
  let tookOverAt = performance.now();
  let waitingFor = "";
  const standstill = new Standstill(deps.overdueMs);
  const walkOnce = async (signal: AbortSignal) => {
    connection = deps.bus.connectionNumber();
    const isAll = connection === undefined || connection !== walkedOver;
    const isTakeover = performance.now() - tookOverAt >= deps.overdueMs;
    const [fault] = await walk(deps, { isAll, standstill: isTakeover ? standstill : undefined }, signal);
    if (isTakeover) tookOverAt = performance.now();
    if (fault !== undefined) throw fault;
    walkedOver = connection;
    if (waitingFor !== "" && !signal.aborted) deps.log.info("snapshots flow again");
    waitingFor = "";
  };
  return repeat(walkOnce, {
    everyMs: deps.intervalMs,
    pause: (ms, signal) => untilNext(deps, connection, ms, signal),
    onFailure(error) {
      // A repeated reason is logged once: while documents or signing is unavailable, walk after
      // walk fails with the same reason.
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== waitingFor) deps.log.warn({ err: error }, "snapshots wait");
      waitingFor = reason;
    },
  });
}

/**
 * Sleeps for `ms`, or for `aloneMs` without a `connection`. Ends within `aloneMs` when the broker's
 * connection is no longer `connection`.
 */
async function untilNext(
  { bus, aloneMs }: ReconcilerDeps,
  connection: number | undefined,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const until = Date.now() + ms;
  const isSame = () => connection !== undefined && bus.connectionNumber() === connection;
  do {
    const leftMs = Math.max(0, until - Date.now());
    await sleep(Math.min(aloneMs, leftMs), signal);
  } while (isSame() && Date.now() < until && !signal.aborted);
}

interface WalkScope {
  /** Whether to include the youngest snapshots. */
  readonly isAll: boolean;
  /** Present to include overdue snapshots of other replicas' tenants that nobody ingests. */
  readonly standstill: Standstill | undefined;
}

/** @returns the errors; a page whose ingest fails does not end the walk */
async function walk(deps: ReconcilerDeps, { isAll, standstill }: WalkScope, signal: AbortSignal): Promise<unknown[]> {
  const faults: unknown[] = [];
  const note = (error: unknown) => void faults.push(error);
  const now = Date.now();
  if (standstill) await walkUntil(deps, now - deps.overdueMs, stoodStill(standstill, now), signal).catch(note);
  const until = isAll ? undefined : now - 2 * deps.intervalMs;
  await walkUntil(deps, until, ({ tenantId }) => deps.isPreferredFor(tenantId), signal).catch(note);
  return faults;

  async function walkUntil(
    { feed, ingest }: ReconcilerDeps,
    until: number | undefined,
    isMine: (reference: Reference) => boolean,
    stop: AbortSignal,
  ): Promise<void> {
    const bound = until === undefined ? {} : { committedBefore: timestampFromDate(new Date(until)) };
    const underway: Promise<void>[] = [];
    let pageToken = "";
    do {
      const page = await feed.listPendingSnapshots({ ...bound, pageToken }, { signal: stop });
      const references = page.references.map(referenceFromProto).filter(isMine);
      const missed = references.filter((reference) => !ingest.isInHand(reference));
      if (missed.length > 0) underway.push(ingest.ingest(missed).catch(note));
      if (underway.length >= pagesAhead) await underway.shift();
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && !stop.aborted);
    await Promise.all(underway);
  }
}

/**
 * Makes the filter for one walk. A reference passes when the oldest pending snapshot of its tenant,
 * which the walk lists first, has been the same for `overdueMs`.
 */
function stoodStill(standstill: Standstill, now: number): (reference: Reference) => boolean {
  const tenants = new Map<string, boolean>();
  standstill.forgetBefore(now - 60_000);
  return (reference) => {
    const { tenantId } = reference;
    const isStill = tenants.get(tenantId) ?? standstill.note(tenantId, snapshotKey(reference), now) <= now;
    tenants.set(tenantId, isStill);
    return isStill;
  };
}
