import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { Ingest } from "./ingest-snapshots.ts";
import { referenceFromProto } from "./references.ts";

interface ReconcilerDeps {
  feed: Pick<Client<typeof SnapshotFeedService>, "listPendingSnapshots">;
  ingest: Ingest;
  bus: Pick<EventBus, "connectionNumber">;
  log: Logger;
  /** Interval of the walks. Younger snapshots are left to the broker. */
  intervalMs: number;
  /** Interval while the broker is not connected. These walks ingest all pending snapshots. */
  aloneMs: number;
}

/**
 * Walks documents' pending snapshots and ingests those that no message announced, so that a loss of
 * the broker or of this process loses no snapshot. It walks at once when it starts, and when the
 * broker disconnects or connects again.
 */
export function startReconciler(deps: ReconcilerDeps): AsyncDisposable {
  const stop = new AbortController();
  const loop = run(deps, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

async function run(deps: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  // Messages may have been lost until a walk has succeeded over the present connection.
  let walkedOver: number | undefined;
  let waitingFor = "";
  while (!signal.aborted) {
    const connection = deps.bus.connectionNumber();
    try {
      await walk(deps, connection === undefined || connection !== walkedOver, signal);
      walkedOver = connection;
      if (waitingFor !== "") deps.log.info("snapshots flow again");
      waitingFor = "";
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // Log a reason once: while documents or signing is unavailable, every walk fails with the
      // same one.
      if (!signal.aborted && reason !== waitingFor) deps.log.warn({ err: error }, "snapshots wait");
      waitingFor = reason;
    }
    await untilNext(deps, connection, signal);
  }
}

/** Sleeps for the interval, or until there is no broker or another connection to it. */
async function untilNext(
  { bus, intervalMs, aloneMs }: ReconcilerDeps,
  connection: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const until = Date.now() + intervalMs;
  const isSame = () => connection !== undefined && bus.connectionNumber() === connection;
  do {
    const leftMs = Math.max(0, until - Date.now());
    await pause(Math.min(aloneMs, leftMs), undefined, { signal }).catch(() => {});
  } while (isSame() && Date.now() < until && !signal.aborted);
}

async function walk(
  { feed, ingest, intervalMs }: ReconcilerDeps,
  everything: boolean,
  signal: AbortSignal,
): Promise<void> {
  const bound = everything ? {} : { committedBefore: timestampFromDate(new Date(Date.now() - intervalMs)) };
  let pageToken = "";
  do {
    const page = await feed.listPendingSnapshots({ ...bound, pageToken }, { signal });
    if (page.references.length > 0) {
      const { acknowledged } = await ingest(page.references.map(referenceFromProto), signal);
      await acknowledged;
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
