import { hash } from "node:crypto";

export interface Reference {
  readonly tenantId: string;
  readonly documentId: string;
  /** From 1, within the document; skips numbers only after a restore. */
  readonly sequence: number;
  /** W3C Trace Context of the call that made the snapshot; absent if unknown or not recorded. */
  readonly traceparent?: string | undefined;
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
  /** SHA-256 of `bytes`, computed by documents. */
  sha256: Uint8Array;
}

/** What the delivery log shows of a snapshot. */
export interface SnapshotFacts {
  /** For example `snapshot.usable`. */
  readonly event: string;
  readonly documentType: string;
  readonly version: number;
}

export function factsOf({ status, documentType, version }: Omit<Snapshot, keyof Reference>): SnapshotFacts {
  return { event: `snapshot.${status}`, documentType, version };
}

/** Most older pending snapshots that the service documents lists with a snapshot. */
export const olderPendingMax = 256;

export interface FeedSnapshot extends Snapshot {
  /** What the service documents attests to signing; delivery passes it on unread. */
  attestation: Uint8Array;
  /** Whether `bytes` match the digest that documents computed. */
  isSound: boolean;
  /** Whether the snapshot is not settled yet. */
  isPending: boolean;
  /** Sequences of older pending snapshots of the document: the lowest `olderPendingMax`. */
  olderPending: readonly number[];
}

/** An Ed25519 signature over a statement that names the snapshot. */
export interface SnapshotSignature {
  keyId: string;
  /** The signed text, verbatim. */
  statement: string;
  /** 64 bytes. */
  value: Uint8Array;
  /** 1, or higher for a snapshot that was signed again after a revocation. */
  signingNumber: number;
}

/** The webhook of a snapshot under one signature: the same for every endpoint, retry and replay. */
export interface Payload {
  webhookId: string;
  signingNumber: number;
  /** For example `snapshot.usable`. */
  event: string;
  keyId: string;
  committedAt: Date;
  body: Uint8Array;
  /** Absent only in the payload of a notice. */
  facts?: SnapshotFacts;
  traceparent?: string | undefined;
}

/** A notice has no `keyId`, because no key of the trust list signs it. */
export type Postable = Omit<Payload, "keyId"> & Partial<Pick<Payload, "keyId">>;

/**
 * The webhook id of a snapshot: `snp_`, 32 hex digits of the digest of tenant and document, `_`,
 * sequence, and `_r2` or higher if it was signed again. It must not contain a dot, which separates
 * the parts of the signed text.
 */
export function webhookIdOf({ tenantId, documentId, sequence }: Reference, signingNumber = 1): string {
  const name = hash("sha256", `${tenantId}\n${documentId}`).slice(0, 32);
  return numbered(`snp_${name}_${sequence}`, signingNumber);
}

function numbered(first: string, signingNumber: number): string {
  return signingNumber > 1 ? `${first}_r${signingNumber}` : first;
}

/**
 * The ids that a webhook had before its snapshot was signed again: of `snp_…_1_r3`, `snp_…_1` and
 * `snp_…_1_r2`. None for a first id, a number above 99, and any other text.
 */
export function earlierWebhookIds(webhookId: string): string[] {
  const [, first = "", signingNumber = "1"] = /^(snp_[0-9a-f]{32}_\d+)_r(\d{1,2})$/.exec(webhookId) ?? [];
  return Array.from({ length: Math.max(0, Number(signingNumber) - 1) }, (_, at) => numbered(first, at + 1));
}

/** Upper bound of the bytes around the snapshot in a payload, including the signature. */
const envelopeBytes = 1_024;

/** Upper bound of the bytes of a snapshot's body, known before the snapshot is signed. */
export function bodyBytesOf({ bytes }: Pick<Snapshot, "bytes">): number {
  return bytes.byteLength + envelopeBytes;
}

/** Key of a snapshot in maps and sets; it is neither stored nor sent. */
export function snapshotKey({ tenantId, documentId, sequence }: Reference): string {
  return `${tenantId} ${documentId} ${sequence}`;
}

/**
 * The body has the snapshot's bytes, unchanged, as its last value, `data.snapshot`. The same
 * arguments give the same bytes.
 */
export function createPayload(snapshot: Snapshot, signature: SnapshotSignature): Payload {
  const { signingNumber } = signature;
  const webhookId = webhookIdOf(snapshot, signingNumber);
  const facts = factsOf(snapshot);
  const { event } = facts;
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
  const body = Buffer.concat([open, snapshot.bytes, Buffer.from("}}")]);
  const { committedAt, traceparent } = snapshot;
  return { webhookId, signingNumber, event, facts, keyId, committedAt, body, traceparent };
}
