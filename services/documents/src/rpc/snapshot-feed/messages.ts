import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { SnapshotSignature as SignatureMessage } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SnapshotReference } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import type { FeedSnapshot, SnapshotKey, SnapshotSignature } from "../../domain/snapshots/snapshot-feed.ts";
import type { PageSizeRule } from "../requests.ts";

export const feedPages: PageSizeRule = { max: 1_000, fallback: 500 };

/** Throws `invalid` unless there are 1 to `max` references, each with valid ids and a sequence. */
export function fromReferences(references: readonly (SnapshotReference | undefined)[], max: number): SnapshotKey[] {
  if (references.length === 0 || references.length > max) {
    throw new DomainError("invalid", `name 1 to ${max} snapshots, not ${references.length}`);
  }
  return references.map(fromReference);
}

function fromReference(reference: SnapshotReference | undefined): SnapshotKey {
  const sequence = reference?.sequence ?? 0n;
  if (sequence < 1n || sequence > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new DomainError("invalid", "sequence starts at 1");
  }
  return {
    tenantId: requireTenantId(reference?.tenantId ?? ""),
    documentId: requireDocumentId(reference?.documentId ?? ""),
    sequence: Number(sequence),
  };
}

export function toReference({ tenantId, documentId, sequence }: SnapshotKey) {
  return { tenantId, documentId, sequence: BigInt(sequence) };
}

export function toSnapshot(snapshot: FeedSnapshot) {
  const { type, version, status, committedAt, bytes, sha256, signature, pending = false, olderPending = [] } = snapshot;
  const { traceparent = "" } = snapshot;
  return {
    reference: toReference(snapshot),
    documentType: type,
    version: BigInt(version),
    status,
    committedAt: timestampFromDate(committedAt),
    snapshotJson: bytes,
    sha256,
    pending,
    olderPending: olderPending.map(BigInt),
    traceparent,
    ...(signature ? { signature } : {}),
  };
}

/**
 * Throws `invalid` unless the signature has the size of an Ed25519 one and a signing number, and
 * its statement names the snapshot and the key. Version, status and digest are not compared:
 * signing states only what documents attested, and `settleSnapshots` requires its endorsement.
 */
export function fromSignature(
  { tenantId, documentId, sequence }: SnapshotKey,
  signature: SignatureMessage,
): SnapshotSignature {
  const { keyId, statement, value, signingNumber } = signature;
  if (value.byteLength !== 64 || signingNumber === 0) {
    throw new DomainError("invalid", "a signature has a value of 64 bytes and a signing_number from 1");
  }
  const lines = statement.split("\n");
  const named = ["vidimus-snapshot-v1", tenantId, documentId, String(sequence), keyId];
  if (lines.length !== 9 || [...lines.slice(0, 4), lines[7]].some((line, at) => line !== named[at])) {
    throw new DomainError("invalid", "the statement names another snapshot or key");
  }
  return { keyId, statement, value, signingNumber };
}
