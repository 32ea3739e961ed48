import { createHash } from "node:crypto";

/** Names one snapshot. */
export interface Reference {
  tenantId: string;
  documentId: string;
  /** From 1, gap-free in its document. */
  sequence: number;
}

/** A sealed copy of one version of a document. */
export interface Snapshot extends Reference {
  documentType: string;
  version: number;
  /** `usable` or `withheld`. */
  status: string;
  committedAt: Date;
  /** Canonical JSON; what is signed for. */
  bytes: Uint8Array;
  /** SHA-256 of `bytes`, as documents states it. */
  sha256: Uint8Array;
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  keyId: string;
  /** The signed text, verbatim. */
  statement: string;
  /** 64 bytes. */
  value: Uint8Array;
}

/** What a receiver gets for a snapshot: the same for every endpoint, retry and replay. */
export interface Payload {
  webhookId: string;
  /** For example `snapshot.usable`. */
  event: string;
  keyId: string;
  body: Uint8Array;
}

/** `snp_`, 32 hex digits that stand for tenant and document, `_`, sequence. Has no dot, which would split the HMAC's text. */
export function webhookIdOf({ tenantId, documentId, sequence }: Reference): string {
  const name = createHash("sha256").update(`${tenantId}\n${documentId}`).digest("hex").slice(0, 32);
  return `snp_${name}_${sequence}`;
}

/** Makes a snapshot's payload. A pure function of snapshot and signature; the snapshot goes in byte for byte, last. */
export function createPayload(snapshot: Snapshot, signature: SnapshotSignature): Payload {
  const webhookId = webhookIdOf(snapshot);
  const event = `snapshot.${snapshot.status}`;
  const { tenantId, documentId, documentType, version, status, sequence } = snapshot;
  const { keyId, statement } = signature;
  const value = Buffer.from(signature.value).toString("base64");
  const envelope = JSON.stringify({
    id: webhookId,
    type: event,
    timestamp: snapshot.committedAt.toISOString(),
    data: {
      tenantId,
      documentId,
      documentType,
      version,
      status,
      sequence,
      signature: { keyId, algorithm: "ed25519", statement, value },
    },
  });
  const open = Buffer.from(`${envelope.slice(0, -2)},"snapshot":`);
  return { webhookId, event, keyId, body: Buffer.concat([open, snapshot.bytes, Buffer.from("}}")]) };
}
