import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { setTimeout as pause } from "node:timers/promises";
import type { Replay, ReplayCounts } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { snapshotKey } from "../domain/payload.ts";
import { referenceFromProto, referenceToProto } from "../ingest/references.ts";
import type { EndpointDirectory } from "../lanes/endpoint-directory.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { ClaimedReplay, ReplayStore } from "../store/replay-store.ts";
import {
  delayOf,
  type ListedSnapshot,
  replaySnapshot,
  type ReplaySnapshotDeps,
  Unreachable,
} from "./replay-snapshot.ts";

export interface ReplayTurnDeps extends Omit<ReplaySnapshotDeps, "untilAllowed"> {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "listSnapshots">;
  readonly audit: Pick<Client<typeof SignatureAuditService>, "getSignatures">;
  readonly directory: Pick<EndpointDirectory, "find">;
  readonly deliveryLog: Pick<DeliveryLogStore, "findSnapshots">;
  readonly replays: Pick<ReplayStore, "advance" | "finish">;
}

/** When the next turn of a replay may come. */
export interface NextTurn {
  readonly at: Date;
  readonly failedTurns: number;
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

/**
 * Works on one page of a replay, so that replays take turns. One that cannot send, because its endpoint
 * is disabled or cannot be reached, gives its turn up; what it has sent of its page is not sent again.
 * Rejects when a service cannot be used.
 *
 * @returns when to go on; undefined when it has ended, or is another's
 */
export async function takeTurn(
  deps: ReplayTurnDeps,
  claimed: ClaimedReplay,
  signal: AbortSignal,
): Promise<NextTurn | undefined> {
  const { replay } = claimed;
  const endpoint = await deps.directory.find(replay.endpointId);
  if (!endpoint) {
    await deps.replays.finish(claimed, "cancelled", new Date());
    return undefined;
  }
  if (!endpoint.enabled) return { at: new Date(Date.now() + disabledMs), failedTurns: 0 };
  const page = await readPage(deps, replay, replay.pageToken, signal);
  try {
    const untilAllowed = createPace(endpoint);
    const counts = add(
      replay.counts,
      await replayPage({ ...deps, untilAllowed }, replay, endpoint, page.snapshots, signal),
    );
    return await endPage(deps, claimed, page, counts);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    const failedTurns = replay.failedTurns + 1;
    return { at: new Date(Date.now() + delayOf(deps.retries, failedTurns, error.retryAfterMs)), failedTurns };
  }
}

async function endPage(
  { replays }: Pick<ReplayTurnDeps, "replays">,
  claimed: ClaimedReplay,
  { snapshots, nextPageToken }: Page,
  counts: ReplayCounts,
): Promise<NextTurn | undefined> {
  const reached = snapshots.at(-1)?.committedAt;
  if (!(await replays.advance(claimed, nextPageToken, counts, reached))) return undefined;
  if (nextPageToken !== "") return { at: new Date(), failedTurns: 0 };
  await replays.finish(claimed, "done", new Date());
  return undefined;
}

interface Page {
  readonly snapshots: readonly ListedSnapshot[];
  readonly nextPageToken: string;
}

async function readPage(deps: ReplayTurnDeps, replay: Replay, pageToken: string, signal: AbortSignal): Promise<Page> {
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

type Listed = Awaited<ReturnType<ReplayTurnDeps["feed"]["listSnapshots"]>>["snapshots"][number];

function fromProto({ reference, committedAt }: Listed): ListedSnapshot {
  if (!reference || !committedAt) throw new TypeError("documents listed a snapshot without reference or commit time");
  return { ...referenceFromProto(reference), committedAt: timestampDate(committedAt) };
}

/** The snapshots of a document go one after the other, those of several documents beside each other. */
async function replayPage(
  deps: ReplayTurnDeps & ReplaySnapshotDeps,
  replay: Replay,
  endpoint: Endpoint,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<ReplayCounts> {
  // First what is settled, then the rows: what ingest stores between the two is seen as pending.
  const settled = await settledOf(deps, replay, snapshots, signal);
  const known = await deps.deliveryLog.findSnapshots(endpoint, snapshots);
  const counts = { seen: snapshots.length, delivered: 0, failed: 0, skipped: 0 };
  const documents = [...Map.groupBy(snapshots, ({ documentId }) => documentId).values()];
  const work = async (ended: AbortSignal) => {
    for (let lane = documents.shift(); lane; lane = documents.shift()) {
      for (const snapshot of lane) {
        const key = snapshotKey(snapshot);
        const facts = { replay, endpoint, snapshot, stored: known.get(key), isSettled: settled.has(key) };
        counts[await replaySnapshot(deps, facts, ended)] += 1;
      }
    }
  };
  await runBeside(Math.min(endpoint.maxInFlight, inFlightMax), work, signal);
  return counts;
}

/** Those of the snapshots that are settled: documents has their signatures. */
async function settledOf(
  { audit }: Pick<ReplayTurnDeps, "audit">,
  { states }: Replay,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!states.includes("missing") || snapshots.length === 0) return new Set();
  const { signatures } = await audit.getSignatures({ references: snapshots.map(referenceToProto) }, { signal });
  return new Set(
    signatures.flatMap(({ reference, signature }) =>
      reference && signature ? snapshotKey(referenceFromProto(reference)) : [],
    ),
  );
}

/**
 * Runs work several times beside each other. When one fails, the others end before this rejects:
 * the process that goes on with the replay would send beside them what they send.
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
function createPace({ ratePerSecond }: Endpoint): (signal: AbortSignal) => Promise<void> {
  let nextAt = 0;
  return async (signal) => {
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
