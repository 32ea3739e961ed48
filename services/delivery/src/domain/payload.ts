import { createHash } from "node:crypto";

/** Names one snapshot. */
export interface Reference {
  tenantId: string;
  documentId: string;
  /** From 1, without gaps within the document. */
  sequence: number;
}

/** An immutable copy of one version of a document. */
export interface Snapshot extends Reference {
  documentType: string;
  version: number;
  /** `usable` or `withheld`. */
  status: string;
  committedAt: Date;
  /** Canonical JSON. */
  bytes: Uint8Array;
  /** SHA-256 of `bytes`, as documents computed it. */
  sha256: Uint8Array;
  /** Of documents, for signing; passed on unread. */
  attestation: Uint8Array;
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  keyId: string;
  /** The signed text, verbatim. */
  statement: string;
  /** 64 bytes. */
  value: Uint8Array;
}

/** The webhook of a snapshot: the same for every endpoint, retry and replay. */
export interface Payload {
  webhookId: string;
  /** For example `snapshot.usable`. */
  event: string;
  keyId: string;
  body: Uint8Array;
}

/**
 * The webhook id of a snapshot: `snp_`, 32 hex digits of the digest of tenant and document, `_`,
 * sequence. It must have no dot, which separates the parts of the text that is signed.
 */
export function webhookIdOf({ tenantId, documentId, sequence }: Reference): string {
  const name = createHash("sha256").update(`${tenantId}\n${documentId}`).digest("hex").slice(0, 32);
  return `snp_${name}_${sequence}`;
}

/**
 * Makes a snapshot's payload. The body ends with the snapshot, byte for byte. The same arguments
 * give the same bytes.
 */
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
