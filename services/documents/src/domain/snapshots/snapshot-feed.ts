import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";

/** Names one snapshot. */
export interface SnapshotKey {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
}

/** A snapshot that was just committed. */
export interface AnnouncedSnapshot extends Omit<SnapshotKey, "tenantId"> {
  /** Of its document. */
  readonly type: string;
  /** W3C Trace Context of the call that made it, when its trace is recorded. */
  readonly traceparent?: string;
}

/** A snapshot and when it was committed. Lists go by `committedAt`, then by the key. */
export interface CommittedSnapshot extends SnapshotKey {
  /** Tick of the tenant's clock. */
  readonly committedAt: Date;
}

/** How the pending state of a snapshot ends: it was signed, or it can never be sent. */
export type SnapshotSettlement = SnapshotKey &
  ({ readonly signature: SnapshotSignature } | { readonly unsendable: string });

/** Which snapshots of a tenant are listed. */
export interface SnapshotQuery {
  /** At or after. */
  readonly since?: Date;
  /** Before. */
  readonly until?: Date;
  /** Empty for all. */
  readonly types: readonly string[];
  /** Only snapshots that no newer one of their document has followed. */
  readonly latestOnly: boolean;
  /** The last one of the page before. */
  readonly after?: Omit<CommittedSnapshot, "tenantId">;
  readonly limit: number;
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  readonly keyId: string;
  readonly statement: string;
  readonly value: Uint8Array;
  /** 1; one more each time the snapshot was signed anew because the key before was revoked. */
  readonly signingNumber: number;
}

/** The signature of a snapshot. */
export interface HeldSignature extends SnapshotKey {
  /** Absent until the snapshot is signed and settled. */
  readonly signature?: SnapshotSignature;
  /** Of the document's newest snapshot; absent in lists. */
  readonly newestSequence?: number;
}

/** A snapshot as delivery sees it. */
export interface SignedSnapshot extends SnapshotKey {
  readonly type: string;
  readonly version: number;
  readonly status: "usable" | "withheld";
  readonly committedAt: Date;
  readonly bytes: Uint8Array;
  readonly sha256: Uint8Array;
  /** Absent until it is signed. */
  readonly signature?: SnapshotSignature;
  /** Absent once delivery has settled it. */
  readonly pending?: true;
  /** W3C Trace Context of the call that made it, when its trace is recorded. */
  readonly traceparent?: string;
}

/** A snapshot, and the older ones of its document that delivery has to take before it. */
export interface FeedSnapshot extends SignedSnapshot {
  /** Sequences, ascending; none unless the snapshot is pending itself. */
  readonly olderPending?: readonly number[];
}

/** A version that was usable, as it was published last. */
export interface PublishedVersion {
  readonly version: number;
  readonly sequence: number;
  readonly updatedAt: Date;
  readonly sha256: Uint8Array;
}

/** An opaque token for a place in the list of pending snapshots. */
export function encodePendingToken({ committedAt, tenantId, documentId, sequence }: CommittedSnapshot): string {
  return encodeOpaqueToken([committedAt.getTime(), tenantId, documentId, sequence]);
}

/** The place a token names; "" names none. Throws `invalid` for a token that was not made here. */
export function decodePendingToken(token: string): CommittedSnapshot | undefined {
  if (token === "") return undefined;
  const [time, tenantId, documentId, sequence] = decodeOpaqueToken(token) ?? [];
  const isPosition =
    isEpochMs(time) && typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number";
  if (!isPosition) throw new DomainError("invalid", "page_token must be one that an earlier page gave");
  return { committedAt: new Date(time), tenantId, documentId, sequence };
}

/** An opaque token for a place in a list of a tenant's snapshots. It does not name the tenant. */
export function encodeListToken({ committedAt, documentId, sequence }: CommittedSnapshot): string {
  return encodeOpaqueToken([committedAt.getTime(), documentId, sequence]);
}

/** The place that the values of such a token name; undefined for those of any other token. */
export function toListPlace(values: readonly (string | number)[]): SnapshotQuery["after"] {
  const [time, id, sequence, ...more] = values;
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || typeof sequence !== "number" || more.length > 0) return undefined;
  return { committedAt: new Date(time), documentId, sequence };
}
