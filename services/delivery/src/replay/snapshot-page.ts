import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { Replay } from "../domain/delivery-log.ts";
import { referenceFromProto } from "../snapshots/references.ts";
import type { ListedSnapshot } from "./replay-snapshot.ts";

export interface SnapshotPageDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "listSnapshots">;
}

/** Snapshots of a replay, in the order of their commits. */
export interface SnapshotPage {
  readonly snapshots: readonly ListedSnapshot[];
  readonly nextPageToken: string;
}

type Range = Pick<Replay, "tenantId" | "since" | "until" | "latestOnly" | "documentTypes">;

export async function readPage(
  { feed }: SnapshotPageDeps,
  { tenantId, since, until, latestOnly, documentTypes = [] }: Range,
  page: { readonly pageToken: string; readonly limit: number },
  signal: AbortSignal,
): Promise<SnapshotPage> {
  const request = {
    tenantId,
    ...(since ? { committedSince: timestampFromDate(since) } : {}),
    committedUntil: timestampFromDate(until),
    documentTypes: [...documentTypes],
    latestOnly,
    ...page,
  };
  const { snapshots, nextPageToken } = await feed.listSnapshots(request, { signal });
  return { nextPageToken, snapshots: snapshots.map(fromProto) };
}

type Listed = Awaited<ReturnType<SnapshotPageDeps["feed"]["listSnapshots"]>>["snapshots"][number];

function fromProto({ reference, committedAt }: Listed): ListedSnapshot {
  if (!reference || !committedAt) throw new TypeError("documents listed a snapshot without reference or commit time");
  return { ...referenceFromProto(reference), committedAt: timestampDate(committedAt) };
}
