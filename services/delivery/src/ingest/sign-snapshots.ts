import type { Client } from "@connectrpc/connect";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/log";
import { createHash } from "node:crypto";
import type { Snapshot, SnapshotSignature } from "../domain/payload.ts";

/** A snapshot and its seal. */
export interface SignedSnapshot {
  snapshot: Snapshot;
  signature: SnapshotSignature;
}

/**
 * Has snapshots signed. One whose bytes are not those its digest was made of, and one for which the notary has signed
 * another digest, is left out with an alarm in the log: neither can be put right by trying again.
 */
export async function signSnapshots(
  deps: { signing: Pick<Client<typeof SigningService>, "signSnapshots">; log: Logger },
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
): Promise<SignedSnapshot[]> {
  const sound = snapshots.filter((snapshot) => isSound(snapshot) || alarm(deps.log, snapshot, "bytes_differ"));
  if (sound.length === 0) return [];
  const items = sound.map(({ tenantId, documentId, sequence, version, status, sha256 }) => {
    return { tenantId, documentId, sequence: BigInt(sequence), version: BigInt(version), status, sha256 };
  });
  const { results } = await deps.signing.signSnapshots({ items }, { signal });
  if (results.length !== items.length) throw new TypeError("the notary answered with another number of results");
  return sound.flatMap((snapshot, index) => {
    const outcome = results[index]?.outcome;
    if (outcome?.case === "signature") return { snapshot, signature: outcome.value };
    alarm(deps.log, snapshot, "signed_differently");
    return [];
  });
}

function isSound({ bytes, sha256 }: Snapshot): boolean {
  return createHash("sha256").update(bytes).digest().equals(sha256);
}

function alarm(log: Logger, { tenantId, documentId, sequence }: Snapshot, reason: string): false {
  log.error({ alarm: "snapshot_digest", reason, tenant: tenantId, documentId, sequence }, "snapshot stays unsent");
  return false;
}
