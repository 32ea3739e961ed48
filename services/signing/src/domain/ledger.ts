import type { SealKey } from "./key-custody.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";

/** A signature in the ledger. Key, time, version and digest are in its statement. */
export interface LedgerEntry {
  /** `snapshotKeyOf` of the snapshot. */
  readonly snapshotKey: string;
  /** 1, and one more each time the snapshot was signed again because a key was revoked. */
  readonly signing: number;
  readonly statement: string;
  /** 64 bytes. */
  readonly value: Uint8Array;
}

/** The signatures that one insert stored. */
export interface LedgerBatch {
  /** From 1, without gaps. */
  readonly number: number;
  /** `mac` of the batch before; empty in the first. */
  readonly prev: Uint8Array;
  /**
   * HMAC with the seal key over everything else in the batch, so each batch covers all earlier
   * ones.
   */
  readonly mac: Uint8Array;
  /**
   * Revision of the key ring when the entries were signed; the lowest one when calls under several
   * revisions share the batch.
   */
  readonly ringRevision: number;
  readonly entries: readonly LedgerEntry[];
}

/** The last batch. */
export type LedgerHead = Omit<LedgerBatch, "entries" | "prev">;

/** Differs for different snapshots, because no part contains a slash. */
export function snapshotKeyOf({
  tenantId,
  documentId,
  sequence,
}: Pick<SnapshotDigest, "tenantId" | "documentId" | "sequence">): string {
  return `${tenantId}/${documentId}/${sequence}`;
}

export function macOf(batch: Omit<LedgerBatch, "mac">, sealKey: SealKey): Promise<Uint8Array> {
  const entries = batch.entries.map(({ snapshotKey, signing, statement, value }) => [
    snapshotKey,
    signing,
    statement,
    Buffer.from(value).toString("base64"),
  ]);
  const parts = [batch.number, Buffer.from(batch.prev).toString("base64"), batch.ringRevision, entries];
  return sealKey.mac(Buffer.from(`vidimus-ledger-v1\n${JSON.stringify(parts)}`));
}

/** Keeps every signature: `store/ledger-store.ts`. */
export interface Ledger {
  /**
   * Inserts the entries whose snapshot and signing number are new to the ledger.
   *
   * @param ringRevision of the ring whose key made the entries
   * @returns for each entry, in order, the newest one of its snapshot: the entry itself or another
   * one
   * @throws DomainError unavailable when an entry that was stored earlier cannot be read yet, or
   * when other processes insert first at every attempt; the call may be repeated
   */
  record(entries: readonly LedgerEntry[], ringRevision: number): Promise<LedgerEntry[]>;
}
