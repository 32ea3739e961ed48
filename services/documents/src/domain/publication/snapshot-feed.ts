import { DomainError } from "@vidimus/kit/errors";

/** Names one snapshot. */
export interface SnapshotKey {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
}

/** A snapshot that delivery has not acknowledged. The walk goes by `committedAt`, then by the key. */
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

/** An opaque token for a place in the walk of pending snapshots. */
export function encodePendingToken({ committedAt, tenantId, documentId, sequence }: PendingPosition): string {
  const value = [1, committedAt.getTime(), tenantId, documentId, sequence];
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The place a token names; "" names none. Throws `invalid` for a token that was not made here. */
export function decodePendingToken(token: string): PendingPosition | undefined {
  if (token === "") return undefined;
  const value = parse(token);
  const [version, time, tenantId, documentId, sequence]: unknown[] = Array.isArray(value) ? value : [];
  const isOurs =
    version === 1 &&
    typeof time === "number" &&
    typeof tenantId === "string" &&
    typeof documentId === "string" &&
    typeof sequence === "number";
  if (!isOurs) throw new DomainError("invalid", "page_token is not one of ours");
  return { committedAt: new Date(time), tenantId, documentId, sequence };
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}
