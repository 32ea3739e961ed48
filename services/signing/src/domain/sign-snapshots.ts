import type { Signer } from "./key-custody.ts";
import { type SnapshotDigest, statementOf } from "./statement.ts";

/** A signature, as the ledger keeps it. */
export interface LedgerEntry {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
  /** Of the snapshot's bytes. */
  readonly sha256: Uint8Array;
  readonly keyId: string;
  readonly signedAt: Date;
  readonly statement: string;
  /** 64 bytes. */
  readonly value: Uint8Array;
}

/** Keeps one signature for each (tenant, document, sequence). */
export interface Ledger {
  /**
   * Enters what is not there yet.
   *
   * @returns for every entry the one that stands: itself, or the one that was first
   * @throws DomainError unavailable when an entry that was first cannot be read; asking again converges
   */
  record(entries: readonly LedgerEntry[]): Promise<LedgerEntry[]>;
}

/** The key that signs now. */
export interface SigningKey {
  readonly keyId: string;
  readonly validFrom: Date;
  readonly signer: Signer;
}

/** What became of one digest. */
export type SignOutcome =
  | { readonly kind: "signed"; readonly entry: LedgerEntry }
  | { readonly kind: "conflict"; readonly standingSha256: Uint8Array };

/** What signing needs. */
export interface SignSnapshotsDeps {
  /** @throws DomainError failed_precondition while signing is off */
  activeKey(): SigningKey;
  ledger: Ledger;
  now(): Date;
}

/**
 * Signs snapshots, each once for ever: only what stands in the ledger is handed out, so a repeat, a race or a crash
 * between signing and storing cannot bring two signatures of one snapshot into the world.
 *
 * @returns one outcome a digest, in order
 */
export async function signSnapshots(
  deps: SignSnapshotsDeps,
  digests: readonly SnapshotDigest[],
): Promise<SignOutcome[]> {
  const key = deps.activeKey();
  // The key may have been made on a machine whose clock runs ahead; nothing is signed before its key was valid.
  const signedAt = new Date(Math.max(deps.now().getTime(), key.validFrom.getTime()));
  const fresh = await Promise.all(digests.map((digest) => sign(key, signedAt, digest)));
  const standing = await deps.ledger.record(fresh);
  return standing.map((entry, index): SignOutcome => {
    const same = Buffer.compare(entry.sha256, fresh[index]?.sha256 ?? new Uint8Array()) === 0;
    return same ? { kind: "signed", entry } : { kind: "conflict", standingSha256: entry.sha256 };
  });
}

async function sign(key: SigningKey, signedAt: Date, digest: SnapshotDigest): Promise<LedgerEntry> {
  const { tenantId, documentId, sequence, sha256 } = digest;
  const { keyId } = key;
  const statement = statementOf(digest, { keyId, signedAt });
  const value = await key.signer.sign(Buffer.from(statement));
  return { tenantId, documentId, sequence, sha256, keyId, signedAt, statement, value };
}
