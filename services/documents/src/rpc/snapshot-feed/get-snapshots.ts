import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { FeedSnapshot, SignedSnapshot, SnapshotKey } from "../../domain/snapshots/snapshot-feed.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { fromReferences, toSnapshot } from "./messages.ts";

const referencesMax = 256;
const bytesMax = 4 * 1024 * 1024;

/** Returns the proof for signing that documents made the snapshot; empty without a key. */
export type Attest = (snapshot: SignedSnapshot) => Uint8Array;

interface GetSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "find" | "olderPending">;
  attest: Attest;
}

/** Reads the first of the snapshots, in the order of the references: up to 4 MiB, at least one. */
export function getSnapshots(deps: GetSnapshotsDeps): MethodImpl<typeof SnapshotFeedService.method.getSnapshots> {
  return async ({ references }, { signal }) => {
    const keys = distinct(fromReferences(references, referencesMax));
    const found = await readFirst(deps, keys, signal);
    const listed = await withOlderPending(deps, found, signal);
    const byName = new Map(listed.map((snapshot) => [nameOf(snapshot), snapshot]));
    const ordered = keys.flatMap((key) => byName.get(nameOf(key)) ?? []);
    return { snapshots: ordered.map((each) => Object.assign(toSnapshot(each), { attestation: deps.attest(each) })) };
  };
}

/**
 * The first snapshots, at least one when any exists. Callers continue behind the last snapshot that
 * they got, so none before it may be left out because of its size.
 */
async function readFirst(
  deps: GetSnapshotsDeps,
  keys: readonly SnapshotKey[],
  signal: AbortSignal,
): Promise<SignedSnapshot[]> {
  const { snapshots, complete } = await deps.snapshots.find(keys, bytesMax, signal);
  if (complete) return snapshots;
  const cut = Math.min(snapshots.length, keys.length - 1);
  const first = await readFirst(deps, keys.slice(0, cut), signal);
  return first.length > 0 ? first : readFirst(deps, keys.slice(cut), signal);
}

/**
 * Adds to each pending snapshot the sequences of its document's older pending ones. A document's
 * first snapshot has none, and most snapshots are first ones, so the store is not asked about them.
 */
async function withOlderPending(
  deps: GetSnapshotsDeps,
  found: readonly SignedSnapshot[],
  signal: AbortSignal,
): Promise<FeedSnapshot[]> {
  const asked = found.filter(({ pending, sequence }) => pending && sequence > 1);
  const older = asked.length > 0 ? await deps.snapshots.olderPending(asked, signal) : [];
  const byDocument = new Map(older.map(({ sequences, ...document }) => [documentOf(document), sequences]));
  const olderThan = (snapshot: SignedSnapshot) =>
    (byDocument.get(documentOf(snapshot)) ?? []).filter((sequence) => sequence < snapshot.sequence);
  return found.map((each) => (each.pending ? Object.assign(each, { olderPending: olderThan(each) }) : each));
}

function documentOf({ tenantId, documentId }: Omit<SnapshotKey, "sequence">): string {
  return `${tenantId}/${documentId}`;
}

function distinct(keys: readonly SnapshotKey[]): SnapshotKey[] {
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
}

function nameOf(key: SnapshotKey): string {
  return `${documentOf(key)}/${key.sequence}`;
}
