import { createHmac, type KeyObject } from "node:crypto";

/** What an attestation covers. No part holds a line end. */
export interface AttestedSnapshot {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot's bytes, 32 bytes. */
  readonly sha256: Uint8Array;
}

/**
 * The attestation of a snapshot, with which documents tells signing that it committed the snapshot:
 * HMAC-SHA256 over seven lines joined by LF, without one at the end. Only these two services hold the
 * key, so a caller that stands between them has nothing else signed.
 *
 * @returns 32 bytes
 */
export function attestationOf(key: KeyObject, snapshot: AttestedSnapshot): Buffer {
  const { tenantId, documentId, sequence, version, status, sha256 } = snapshot;
  const digest = Buffer.from(sha256).toString("hex");
  const lines = ["vidimus-attestation-v1", tenantId, documentId, sequence, version, status, digest];
  return createHmac("sha256", key).update(lines.join("\n")).digest();
}
