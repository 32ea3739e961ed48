import { attestationOf } from "@vidimus/contracts/attestation";
import { endorsementOf } from "@vidimus/contracts/endorsement";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { type KeyObject, timingSafeEqual } from "node:crypto";
import type { Attest } from "./rpc/snapshot-feed/get-snapshots.ts";
import type { IsEndorsed } from "./rpc/snapshot-feed/settle-snapshots.ts";

/**
 * Attests snapshots to signing, and accepts only signatures that signing endorsed, both with the
 * key that documents shares with signing.
 *
 * @param key undefined: nothing is attested, and every signature is refused
 */
export function attestation(
  key: KeyObject | undefined,
  log: Pick<Logger, "warn">,
): { readonly attest: Attest; readonly isEndorsed: IsEndorsed } {
  if (!key) {
    log.warn("ATTESTATION_KEY_FILE is not set: signing signs nothing that this process hands out");
    return { attest: () => new Uint8Array(), isEndorsed: () => false };
  }
  return {
    attest: (snapshot) => attestationOf(key, snapshot),
    isEndorsed(signature, endorsement) {
      const expected = endorsementOf(key, signature);
      return endorsement.byteLength === expected.byteLength && timingSafeEqual(endorsement, expected);
    },
  };
}
