import { DomainError } from "@vidimus/kit/errors";
import type { Signer } from "./key-custody.ts";
import type { KeyRing } from "./key-ring.ts";
import { type Ledger, type LedgerEntry, snapshotKeyOf } from "./ledger.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";
import { checkSignature } from "./standing-signature.ts";
import { statementOf } from "./statement.ts";

export interface SigningKey {
  readonly keyId: string;
  /** Signing times are not earlier than this. */
  readonly validFrom: Date;
  readonly signer: Signer;
}

/** The key that signs, and the ring in which it is active. */
export interface SigningState {
  readonly key: SigningKey;
  readonly ring: KeyRing;
}

export interface SnapshotSignature {
  readonly keyId: string;
  readonly signedAt: Date;
  readonly statement: string;
  /** 64 bytes. */
  readonly value: Uint8Array;
  /** 1, and one more each time the snapshot was signed again because a key was revoked. */
  readonly signing: number;
}

/**
 * - `conflict`: the snapshot was signed before, with another digest, version or status
 * - `forged`: no key of the ring made the signature of the snapshot in the ledger
 *
 * `standingSha256` is the digest in the ledger.
 */
export type SignOutcome =
  | { readonly kind: "signed"; readonly signature: SnapshotSignature }
  | { readonly kind: "conflict"; readonly standingSha256: Uint8Array }
  | { readonly kind: "forged"; readonly standingSha256: Uint8Array };

export interface SignDigestsDeps {
  /** @throws DomainError as `RingWatch.signingState` does */
  signingState(): Promise<SigningState>;
  ledger: Ledger;
  now(): Date;
}

/**
 * Most rounds of one call. The ledger answers a snapshot's newest signature, so two suffice unless
 * meanwhile keys are revoked or other calls sign the same snapshots.
 */
const roundsMax = 100;

/**
 * Only stored signatures are returned, so a repeated call, a race, or a crash between signing and
 * storing never gives two signatures for one snapshot. Only a snapshot whose newest signature is of
 * a revoked key is signed again.
 *
 * @returns one outcome for each digest, in order
 */
export async function signDigests(deps: SignDigestsDeps, digests: readonly SnapshotDigest[]): Promise<SignOutcome[]> {
  const state = await deps.signingState();
  // A key from a machine whose clock is ahead may become valid later than `now`. Receivers refuse a
  // signature from before that time, so the signature gets the key's first moment.
  const signedAt = new Date(Math.max(deps.now().getTime(), state.key.validFrom.getTime()));
  const outcomes = new Map<number, SignOutcome>();
  let due = digests.map((digest, index) => ({ digest, index, signing: 1 }));
  for (let round = 0; due.length > 0 && round < roundsMax; round += 1) {
    const fresh = await Promise.all(due.map(({ digest, signing }) => sign(state.key, signedAt, digest, signing)));
    const standing = await deps.ledger.record(fresh, state.ring.revision);
    due = due.flatMap((item, position) => {
      const entry = standing[position];
      // A signature that was made just now needs no check, which would take longer than signing.
      const outcome =
        entry &&
        (entry === fresh[position]
          ? signed(entry, state.key.keyId, signedAt)
          : outcomeOf(entry, item.digest, state.ring));
      if (!outcome) return entry ? [{ ...item, signing: entry.signing + 1 }] : [];
      outcomes.set(item.index, outcome);
      return [];
    });
  }
  return digests.map((_, index) => {
    const outcome = outcomes.get(index);
    if (outcome) return outcome;
    throw new DomainError("unavailable", "the keys of the ring are being revoked; repeat the call");
  });
}

/** Undefined when the snapshot must be signed again. */
function outcomeOf(entry: LedgerEntry, digest: SnapshotDigest, ring: KeyRing): SignOutcome | undefined {
  const found = checkSignature(entry, ring);
  if (found.kind === "forged") return { kind: "forged", standingSha256: digestIn(entry.statement) };
  const { keyId, signedAt, sha256 } = found.stated;
  if (statementOf(digest, { keyId, signedAt }) !== entry.statement) return { kind: "conflict", standingSha256: sha256 };
  if (found.kind === "revoked") return undefined;
  return signed(entry, keyId, signedAt);
}

function signed({ statement, value, signing }: LedgerEntry, keyId: string, signedAt: Date): SignOutcome {
  return { kind: "signed", signature: { keyId, signedAt, statement, value, signing } };
}

/** The digest in the last line of a statement that may be malformed. */
function digestIn(statement: string): Uint8Array {
  return Buffer.from(statement.split("\n").at(-1) ?? "", "hex");
}

async function sign(
  { keyId, signer }: SigningKey,
  signedAt: Date,
  digest: SnapshotDigest,
  signing: number,
): Promise<LedgerEntry> {
  const statement = statementOf(digest, { keyId, signedAt });
  const value = await signer.sign(Buffer.from(statement));
  return { snapshotKey: snapshotKeyOf(digest), signing, statement, value };
}
