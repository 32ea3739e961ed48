import { createHmac, type KeyObject } from "node:crypto";

/** What an attestation covers. No part may contain a line feed. */
export interface AttestedSnapshot {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
  readonly version: number;
  readonly status: string;
  /** Digest of the snapshot's bytes, 32 bytes. */
  readonly sha256: Uint8Array;
}

/**
 * The attestation of a snapshot, by which documents proves to signing that it committed the
 * snapshot: HMAC-SHA256 over seven lines joined by LF, without a final one. Only these two services
 * have the key, so delivery, which passes snapshots on, cannot get anything else signed.
 *
 * @returns 32 bytes
 */
export function attestationOf(key: KeyObject, snapshot: AttestedSnapshot): Buffer {
  const { tenantId, documentId, sequence, version, status, sha256 } = snapshot;
  const digest = Buffer.from(sha256).toString("hex");
  const lines = ["vidimus-attestation-v1", tenantId, documentId, sequence, version, status, digest];
  return createHmac("sha256", key).update(lines.join("\n")).digest();
}
