import { type AttestedSnapshot, attestationOf } from "@vidimus/contracts/attestation";
import { endorsementOf } from "@vidimus/contracts/endorsement";
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { signDigests, type SignDigestsDeps, type SignOutcome } from "./sign-digests.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";

export interface AttestedDigest {
  readonly digest: SnapshotDigest;
  /** What the caller sent as the attestation of documents; not checked yet. */
  readonly attestation: Uint8Array;
}

/**
 * `SignOutcome`, with the endorsement that documents requires of a signature. `unattested`:
 * documents did not attest the digest, so it was not signed.
 */
export type AttestedOutcome =
  | Exclude<SignOutcome, { kind: "signed" }>
  | (Extract<SignOutcome, { kind: "signed" }> & { readonly endorsement: Uint8Array })
  | { readonly kind: "unattested" };

/**
 * Undefined when none of the keys made the attestation. Two keys are accepted while one replaces
 * the other.
 */
function attestingKey(
  keys: readonly KeyObject[],
  snapshot: AttestedSnapshot,
  attestation: Uint8Array,
): KeyObject | undefined {
  return keys.find((key) => {
    const expected = attestationOf(key, snapshot);
    return attestation.length === expected.length && timingSafeEqual(attestation, expected);
  });
}

export interface SignAttestedDeps extends SignDigestsDeps {
  /** The accepted keys; without any, every digest counts as unattested. */
  readonly attestationKeys: readonly KeyObject[];
}

/**
 * Signs the digests that documents attested, and no others, so that a caller with only delivery's
 * identity gets nothing signed but snapshots of documents. A signature is endorsed with the key of
 * its attestation, which documents has even while that key is being replaced.
 *
 * @returns one outcome for each digest, in order
 */
export async function signAttested(
  deps: SignAttestedDeps,
  items: readonly AttestedDigest[],
): Promise<AttestedOutcome[]> {
  const attested = items.flatMap((item) => {
    const key = attestingKey(deps.attestationKeys, item.digest, item.attestation);
    return key ? { item, key } : [];
  });
  // Called even without digests, because the call throws while signing is off.
  const outcomes = await signDigests(
    deps,
    attested.map(({ item }) => item.digest),
  );
  const outcomeOf = new Map(attested.map(({ item, key }, index) => [item, endorsed(key, outcomes[index])]));
  return items.map((item) => outcomeOf.get(item) ?? { kind: "unattested" });
}

function endorsed(key: KeyObject, outcome: SignOutcome | undefined): AttestedOutcome | undefined {
  if (outcome?.kind !== "signed") return outcome;
  const { statement, value, signing: signingNumber } = outcome.signature;
  return { ...outcome, endorsement: endorsementOf(key, { statement, value, signingNumber }) };
}
