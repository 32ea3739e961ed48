import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { setTimeout as pause } from "node:timers/promises";
import type { Replay, ReplayCounts } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { snapshotKey } from "../domain/payload.ts";
import { referenceFromProto } from "../ingest/references.ts";
import type { EndpointDirectory } from "../send/endpoint-directory.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { ClaimedReplay, ReplayStore } from "../store/replay-store.ts";
import { type ListedSnapshot, replaySnapshot, type ReplaySnapshotDeps } from "./replay-snapshot.ts";

export interface RunReplayDeps extends Omit<ReplaySnapshotDeps, "untilAllowed"> {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "listSnapshots">;
  readonly directory: Pick<EndpointDirectory, "find">;
  readonly deliveryLog: Pick<DeliveryLogStore, "findSnapshots">;
  readonly replays: Pick<ReplayStore, "advance" | "finish">;
}

/**
 * Snapshots of one page. A replay that goes on after a crash looks at one page again. Its end waits
 * for the slowest answer, because a document may go on in the next page.
 */
const pageMax = 128;

/**
 * Attempts of one replay in flight, besides the endpoint's own limit: new snapshots, which have as
 * many places of their own, are not crowded out.
 */
const inFlightMax = 32;

/** How soon a replay of a disabled endpoint looks again. */
const disabledMs = 5_000;

/** Works on a replay until it is done, or until the signal ends it. Rejects when a service cannot be used. */
export async function runReplay(deps: RunReplayDeps, claimed: ClaimedReplay, signal: AbortSignal): Promise<void> {
  const { replay } = claimed;
  const untilAllowed = createPace();
  let { pageToken, counts } = replay;
  while (!signal.aborted) {
    const endpoint = await deps.directory.find(replay.endpointId);
    if (!endpoint) return deps.replays.finish(claimed, "cancelled", new Date());
    if (!endpoint.enabled) {
      await pause(disabledMs, undefined, { signal });
      continue;
    }
    const page = await readPage(deps, replay, pageToken, signal);
    const sending = { ...deps, untilAllowed: (ended: AbortSignal) => untilAllowed(endpoint, ended) };
    counts = add(counts, await replayPage(sending, replay, endpoint, page.snapshots, signal));
    pageToken = page.nextPageToken;
    const reached = page.snapshots.at(-1)?.committedAt;
    if (!(await deps.replays.advance(claimed, pageToken, counts, reached))) return;
    if (pageToken === "") return deps.replays.finish(claimed, "done", new Date());
  }
}

async function readPage(deps: RunReplayDeps, replay: Replay, pageToken: string, signal: AbortSignal) {
  const { tenantId, since, until, latestOnly, documentTypes = [] } = replay;
  const request = {
    tenantId,
    ...(since ? { committedSince: timestampFromDate(since) } : {}),
    committedUntil: timestampFromDate(until),
    documentTypes: [...documentTypes],
    latestOnly,
    limit: pageMax,
    pageToken,
  };
  const { snapshots, nextPageToken } = await deps.feed.listSnapshots(request, { signal });
  return { nextPageToken, snapshots: snapshots.map(fromProto) };
}

type Listed = Awaited<ReturnType<RunReplayDeps["feed"]["listSnapshots"]>>["snapshots"][number];

function fromProto({ reference, committedAt }: Listed): ListedSnapshot {
  if (!reference || !committedAt) throw new TypeError("documents listed a snapshot without reference or commit time");
  return { ...referenceFromProto(reference), committedAt: timestampDate(committedAt) };
}

/** The snapshots of a document go one after the other, those of several documents beside each other. */
async function replayPage(
  deps: RunReplayDeps & ReplaySnapshotDeps,
  replay: Replay,
  endpoint: Endpoint,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<ReplayCounts> {
  const known = await deps.deliveryLog.findSnapshots(endpoint, snapshots);
  const counts = { seen: snapshots.length, delivered: 0, failed: 0, skipped: 0 };
  const documents = [...Map.groupBy(snapshots, ({ documentId }) => documentId).values()];
  const work = async (ended: AbortSignal) => {
    for (let lane = documents.shift(); lane; lane = documents.shift()) {
      for (const snapshot of lane) {
        const stored = known.get(snapshotKey(snapshot));
        counts[await replaySnapshot(deps, { replay, endpoint, snapshot, stored }, ended)] += 1;
      }
    }
  };
  await runBeside(Math.min(endpoint.maxInFlight, inFlightMax), work, signal);
  return counts;
}

/**
 * Runs work several times beside each other. When one fails, the others end before this rejects:
 * whoever goes on with the replay would send beside them what they send.
 */
async function runBeside(
  count: number,
  work: (signal: AbortSignal) => Promise<void>,
  stopped: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const runs = Array.from({ length: count }, () => work(signal).catch((error: unknown) => failed.abort(error)));
  await Promise.all(runs);
  failed.signal.throwIfAborted();
}

/** Waits so that the attempts of a replay are spread by the endpoint's rate. */
function createPace(): (endpoint: Endpoint, signal: AbortSignal) => Promise<void> {
  let nextAt = 0;
  return async ({ ratePerSecond }, signal) => {
    signal.throwIfAborted();
    if (ratePerSecond === undefined) return;
    const now = Date.now();
    const at = Math.max(now, nextAt);
    nextAt = at + 1_000 / ratePerSecond;
    if (at > now) await pause(at - now, undefined, { signal });
  };
}

function add(one: ReplayCounts, other: ReplayCounts): ReplayCounts {
  return {
    seen: one.seen + other.seen,
    delivered: one.delivered + other.delivered,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}
