import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";

export interface SnapshotKey {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
}

/** What `announceSnapshots` sends to the broker for a committed snapshot, besides its tenant. */
export interface AnnouncedSnapshot extends Omit<SnapshotKey, "tenantId"> {
  readonly type: string;
  /** W3C Trace Context of the call that made the snapshot; absent unless its trace is recorded. */
  readonly traceparent?: string;
}

/** Lists are ordered by `committedAt`, then by the key. */
export interface CommittedSnapshot extends SnapshotKey {
  /** Tick of the tenant's clock. */
  readonly committedAt: Date;
}

/** The end of a snapshot's pending state: it was signed, or it can never be sent. */
export type SnapshotSettlement = SnapshotKey &
  ({ readonly signature: SnapshotSignature } | { readonly unsendable: string });

export interface SnapshotQuery {
  /** Committed at or after this time. */
  readonly since?: Date;
  /** Committed before this time. */
  readonly until?: Date;
  /** Empty for all types. */
  readonly types: readonly string[];
  /** Lists only the newest snapshot of each document. */
  readonly latestOnly: boolean;
  /** The last snapshot of the page before. */
  readonly after?: Omit<CommittedSnapshot, "tenantId">;
  readonly limit: number;
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  readonly keyId: string;
  readonly statement: string;
  readonly value: Uint8Array;
  /** 1, and one more each time the snapshot was signed again because a key was revoked. */
  readonly signingNumber: number;
}

export interface HeldSignature extends SnapshotKey {
  /** Absent until the snapshot is signed and settled. */
  readonly signature?: SnapshotSignature;
  /** Sequence of the document's newest snapshot; absent in lists. */
  readonly newestSequence?: number;
}

export interface SignedSnapshot extends SnapshotKey {
  readonly type: string;
  readonly version: number;
  readonly status: "usable" | "withheld";
  readonly committedAt: Date;
  readonly bytes: Uint8Array;
  readonly sha256: Uint8Array;
  /** Absent until delivery has settled the snapshot with a signature. */
  readonly signature?: SnapshotSignature;
  /** Absent once delivery has settled the snapshot. */
  readonly pending?: true;
  /** W3C Trace Context of the call that made the snapshot; absent unless its trace is recorded. */
  readonly traceparent?: string;
}

/** A snapshot, and the older snapshots of its document that delivery must take first. */
export interface FeedSnapshot extends SignedSnapshot {
  /** Sequences, ascending, at most 256; absent when the snapshot itself is not pending. */
  readonly olderPending?: readonly number[];
}

/** A version that was usable, with its newest usable snapshot. */
export interface PublishedVersion {
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  readonly sha256: Uint8Array;
}

/** The page token of `ListPendingSnapshots` whose page starts behind the given snapshot. */
export function encodePendingToken({ committedAt, tenantId, documentId, sequence }: CommittedSnapshot): string {
  return encodeOpaqueToken([committedAt.getTime(), tenantId, documentId, sequence]);
}

/**
 * The position in a token; undefined for "". Throws `invalid` for a token that holds no position. A
 * forged position is not detected.
 */
export function decodePendingToken(token: string): CommittedSnapshot | undefined {
  if (token === "") return undefined;
  const [time, tenantId, documentId, sequence] = decodeOpaqueToken(token) ?? [];
  const isPosition =
    isEpochMs(time) && typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number";
  if (!isPosition) throw new DomainError("invalid", "page_token must be one that an earlier page gave");
  return { committedAt: new Date(time), tenantId, documentId, sequence };
}

/** The page token of `ListSnapshots` whose page starts behind the given snapshot. */
export function encodeListToken({ committedAt, documentId, sequence }: CommittedSnapshot): string {
  return encodeOpaqueToken([committedAt.getTime(), documentId, sequence]);
}

/** The position in the values of a token of `encodeListToken`; undefined for any other values. */
export function toListPosition(values: readonly (string | number)[]): SnapshotQuery["after"] {
  const [time, id, sequence, ...more] = values;
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || typeof sequence !== "number" || more.length > 0) return undefined;
  return { committedAt: new Date(time), documentId, sequence };
}
