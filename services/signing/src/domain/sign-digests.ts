import type { Signer } from "./key-custody.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";
import { statementOf } from "./statement.ts";

/** A signature, as the ledger keeps it. */
export interface LedgerEntry {
  readonly tenantId: string;
  readonly documentId: string;
  readonly sequence: number;
  /** Of the snapshot's bytes, 32 bytes. */
  readonly sha256: Uint8Array;
  readonly keyId: string;
  readonly signedAt: Date;
  readonly statement: string;
  /** 64 bytes. */
  readonly value: Uint8Array;
}

/** Keeps one signature for each (tenant, document, sequence): `store/ledger-store.ts`. */
export interface Ledger {
  /**
   * Inserts the entries whose (tenant, document, sequence) is not in the ledger yet.
   *
   * @returns the standing entry for each, in order: the entry itself, or the one stored earlier
   * @throws DomainError unavailable when an entry stored earlier cannot be read; the call may be
   * repeated
   */
  record(entries: readonly LedgerEntry[]): Promise<LedgerEntry[]>;
}

/** The key that signs now, opened. */
export interface SigningKey {
  readonly keyId: string;
  /** No signing time is earlier. */
  readonly validFrom: Date;
  readonly signer: Signer;
}

/**
 * The outcome for one digest: its signature, or the digest that was signed earlier for the same
 * snapshot.
 */
export type SignOutcome =
  | { readonly kind: "signed"; readonly entry: LedgerEntry }
  | { readonly kind: "conflict"; readonly standingSha256: Uint8Array };

export interface SignDigestsDeps {
  /**
   * The key that signs now: `ring-watch.ts`.
   *
   * @throws DomainError failed_precondition while signing is off, unavailable
   */
  signingKey(): Promise<SigningKey>;
  ledger: Ledger;
  now(): Date;
}

/**
 * Signs digests. Only stored signatures are returned, so a repeated call, a race, or a crash
 * between signing and storing never gives two signatures for one snapshot.
 *
 * @returns one outcome per digest, in order
 */
export async function signDigests(deps: SignDigestsDeps, digests: readonly SnapshotDigest[]): Promise<SignOutcome[]> {
  const key = await deps.signingKey();
  // A key made on a machine whose clock runs ahead becomes valid later than `now`.
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
