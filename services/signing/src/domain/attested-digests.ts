import { type AttestedSnapshot, attestationOf } from "@vidimus/contracts/attestation";
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { signDigests, type SignDigestsDeps, type SignOutcome } from "./sign-digests.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";

/** A digest to sign, and what its caller shows for it. */
export interface AttestedDigest {
  readonly digest: SnapshotDigest;
  /** Of documents; as the caller sent it, unchecked. */
  readonly attestation: Uint8Array;
}

/** `unattested`: documents did not attest the digest, and it was not signed. */
export type AttestedOutcome = SignOutcome | { readonly kind: "unattested" };

/** Whether one of the keys made the attestation. Two keys are accepted while one replaces the other. */
export function isAttested(keys: readonly KeyObject[], snapshot: AttestedSnapshot, attestation: Uint8Array): boolean {
  return keys.some((key) => {
    const expected = attestationOf(key, snapshot);
    return attestation.length === expected.length && timingSafeEqual(attestation, expected);
  });
}

export interface SignAttestedDeps extends SignDigestsDeps {
  /** The accepted keys. Without one nothing is attested. */
  readonly attestationKeys: readonly KeyObject[];
}

/**
 * Signs the digests that documents attested, and no other one. A caller with delivery's identity, and
 * without documents, gets nothing signed.
 *
 * @returns one outcome per digest, in order
 */
export async function signAttested(
  deps: SignAttestedDeps,
  items: readonly AttestedDigest[],
): Promise<AttestedOutcome[]> {
  const attested = items.filter(({ digest, attestation }) => isAttested(deps.attestationKeys, digest, attestation));
  // Also without any, because it says whether signing is on.
  const outcomes = await signDigests(
    deps,
    attested.map(({ digest }) => digest),
  );
  const outcomeOf = new Map(attested.map((item, index) => [item, outcomes[index]]));
  return items.map((item) => outcomeOf.get(item) ?? { kind: "unattested" });
}
