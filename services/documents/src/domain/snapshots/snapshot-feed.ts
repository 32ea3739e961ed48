import { DomainError } from "@vidimus/kit/errors";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";

/** Names one snapshot. */
export interface SnapshotKey {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
}

/** A snapshot that was just committed. */
export interface AnnouncedSnapshot extends SnapshotKey {
  /** Of its document; "" when a process of an earlier version announced it. */
  readonly type: string;
}

/**
 * A snapshot that delivery has not acknowledged. The walk goes by `committedAt`, then by the key.
 */
export interface PendingPosition extends SnapshotKey {
  readonly committedAt: Date;
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  readonly keyId: string;
  readonly statement: string;
  readonly value: Uint8Array;
}

/** A snapshot as delivery sees it. */
export interface SignedSnapshot extends SnapshotKey {
  readonly type: string;
  readonly version: number;
  readonly status: "usable" | "withheld";
  readonly committedAt: Date;
  readonly bytes: Uint8Array;
  readonly sha256: Uint8Array;
  /** Absent until attached. */
  readonly signature?: SnapshotSignature;
}

/** A version that was usable, as it was published last. */
export interface PublishedVersion {
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  readonly sha256: Uint8Array;
}

/** An opaque token for a place in the list of pending snapshots. */
export function encodePendingToken({ committedAt, tenantId, documentId, sequence }: PendingPosition): string {
  return encodeOpaqueToken([committedAt.getTime(), tenantId, documentId, sequence]);
}

/** The place a token names; "" names none. Throws `invalid` for a token that was not made here. */
export function decodePendingToken(token: string): PendingPosition | undefined {
  if (token === "") return undefined;
  const [time, tenantId, documentId, sequence] = decodeOpaqueToken(token) ?? [];
  const isPosition =
    isEpochMs(time) && typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number";
  if (!isPosition) throw new DomainError("invalid", "page_token must be one that an earlier page gave");
  return { committedAt: new Date(time), tenantId, documentId, sequence };
}
