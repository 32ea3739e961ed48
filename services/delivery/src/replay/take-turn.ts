import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { setTimeout as pause } from "node:timers/promises";
import type { Replay, ReplayCounts } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { snapshotKey } from "../domain/payload.ts";
import { referenceFromProto, referenceToProto } from "../snapshots/references.ts";
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
import { readPage, type SnapshotPage, type SnapshotPageDeps } from "./snapshot-page.ts";

export interface ReplayTurnDeps extends Omit<ReplaySnapshotDeps, "untilAllowed">, SnapshotPageDeps {
  readonly audit: Pick<Client<typeof SignatureAuditService>, "getSignatures">;
  readonly directory: Pick<EndpointDirectory, "find">;
  readonly deliveryLog: Pick<DeliveryLogStore, "findSnapshots">;
  readonly replays: Pick<ReplayStore, "advance" | "finish">;
}

interface NextTurn {
  readonly at: Date;
  readonly failedTurns: number;
}

/**
 * Most snapshots of one page. More would be examined again after a crash. Fewer would make a replay
 * wait more often: the next page begins only after the slowest answer of this one, because both may
 * have snapshots of the same document.
 */
const pageMax = 128;

/**
 * Most attempts of one replay in flight; `maxInFlight` of the endpoint limits them, too. They are
 * counted apart from the attempts of lanes.
 */
const inFlightMax = 32;

/** Delay until the replay of a disabled endpoint looks at the endpoint again. */
const disabledMs = 5_000;

/**
 * Works on one page of a replay, so that replays alternate. Sends nothing while the endpoint is
 * disabled; cancels the replay of a deleted endpoint. Ends early when the receiver cannot be
 * reached: the next turn works on the same page, and leaves out the snapshots that were sent.
 * Rejects when a service is unavailable.
 *
 * @returns when to continue; undefined when the replay has ended, or another process has it
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
  const page = await readPage(deps, replay, { pageToken: replay.pageToken, limit: pageMax }, signal);
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
  { snapshots, nextPageToken }: SnapshotPage,
  counts: ReplayCounts,
): Promise<NextTurn | undefined> {
  const reached = snapshots.at(-1)?.committedAt;
  if (!(await replays.advance(claimed, nextPageToken, counts, reached))) return undefined;
  if (nextPageToken !== "") return { at: new Date(), failedTurns: 0 };
  await replays.finish(claimed, "done", new Date());
  return undefined;
}

/** Snapshots of one document follow each other; those of several documents run at the same time. */
async function replayPage(
  deps: ReplayTurnDeps & ReplaySnapshotDeps,
  replay: Replay,
  endpoint: Endpoint,
  snapshots: readonly ListedSnapshot[],
  signal: AbortSignal,
): Promise<ReplayCounts> {
  // What is settled is read before the rows, so that snapshots that ingest stores in between count
  // as pending.
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

/**
 * The `snapshotKey`s of the settled snapshots: those whose signatures documents has. Empty for a
 * replay without `missing`: being settled matters only for snapshots without a delivery.
 */
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
 * Runs work several times at once. When one run fails, waits for the others before it rejects:
 * another process that continues the replay would otherwise send the same snapshots at the same
 * time.
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
