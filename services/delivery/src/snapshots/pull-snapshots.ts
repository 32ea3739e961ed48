import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions, Client } from "@connectrpc/connect";
import type {
  Snapshot as SnapshotMessage,
  SnapshotFeedService,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { parseTraceparent } from "@vidimus/kit/rpc/context/call-context";
import { hash } from "node:crypto";
import type { FeedSnapshot, Reference } from "../domain/payload.ts";
import { referenceFromProto, referenceToProto } from "./references.ts";

/** Most references in one call. */
export const pullMax = 256;

/**
 * Reads snapshots from documents, one answer (at most 4 MiB) at a time, in the order of the
 * references. Skips snapshots that documents does not have.
 *
 * @param trace options of the calls, from `tracedFor`
 */
export async function* pullSnapshots(
  feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots">,
  references: readonly Reference[],
  signal: AbortSignal,
  trace: CallOptions = {},
): AsyncGenerator<FeedSnapshot[]> {
  let asked = [...references];
  while (asked.length > 0) {
    const request = { references: asked.slice(0, pullMax).map(referenceToProto) };
    const { snapshots } = await feed.getSnapshots(request, { ...trace, signal });
    const page = snapshots.map(fromProto);
    if (page.length > 0) yield page;
    asked = asked.slice(covered(asked.slice(0, pullMax), page.at(-1)));
  }
}

/**
 * The number of references that an answer covers: those up to its last snapshot; all when it is
 * empty.
 */
function covered(asked: readonly Reference[], last: Reference | undefined): number {
  const index = last ? asked.findIndex((each) => isSame(each, last)) : -1;
  return index === -1 ? asked.length : index + 1;
}

function isSame(a: Reference, b: Reference): boolean {
  return a.sequence === b.sequence && a.documentId === b.documentId && a.tenantId === b.tenantId;
}

function fromProto(message: SnapshotMessage): FeedSnapshot {
  const { reference, committedAt, snapshotJson: bytes, sha256 } = message;
  if (!reference || !committedAt) throw new TypeError("documents sent a snapshot without reference or commit time");
  return {
    ...referenceFromProto(reference),
    documentType: message.documentType,
    version: Number(message.version),
    status: message.status,
    committedAt: timestampDate(committedAt),
    bytes,
    sha256,
    attestation: message.attestation,
    traceparent: parseTraceparent(message.traceparent),
    isSound: hash("sha256", bytes, "buffer").equals(sha256),
    isPending: message.pending,
    olderPending: message.olderPending.map(Number),
  };
}
