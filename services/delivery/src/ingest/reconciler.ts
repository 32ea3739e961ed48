import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { EventBus } from "@vidimus/kit/event-bus";
import type { Logger } from "@vidimus/kit/log";
import { setTimeout as pause } from "node:timers/promises";
import type { Ingest } from "./ingest-snapshots.ts";
import { fromReference } from "./references.ts";

export interface ReconcilerDeps {
  feed: Pick<Client<typeof SnapshotFeedService>, "listPendingSnapshots">;
  ingest: Ingest;
  bus: Pick<EventBus, "isConnected">;
  log: Logger;
  /** Between walks, and how old a snapshot must be before a walk takes it from the broker's hands. */
  intervalMs: number;
  /** Between walks while the broker is away; they take everything. */
  aloneMs: number;
}

/**
 * Walks documents' pending snapshots and takes in what no message brought: the reason why losing the broker, or this
 * process at any moment, loses nothing. Walks at once when it starts and when the broker went or came back.
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
  // Until a walk with a broker has gone through, messages may have been lost.
  let everything = true;
  let waitingFor = "";
  while (!signal.aborted) {
    const connected = deps.bus.isConnected();
    try {
      await walk(deps, everything || !connected, signal);
      everything = !connected;
      if (waitingFor !== "") deps.log.info("snapshots flow again");
      waitingFor = "";
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // Said when it changes, not twice a second for as long as documents or the notary is away.
      if (!signal.aborted && reason !== waitingFor) deps.log.warn({ err: error }, "snapshots wait");
      waitingFor = reason;
    }
    await untilNext(deps, signal);
  }
}

/** Sleeps for the interval, or until the broker is seen to be away. */
async function untilNext({ bus, intervalMs, aloneMs }: ReconcilerDeps, signal: AbortSignal): Promise<void> {
  const until = Date.now() + intervalMs;
  do {
    const leftMs = Math.max(0, until - Date.now());
    await pause(Math.min(aloneMs, leftMs), undefined, { signal }).catch(() => {});
  } while (bus.isConnected() && Date.now() < until && !signal.aborted);
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
      const { acknowledged } = await ingest(page.references.map(fromReference), signal);
      await acknowledged;
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
