import type { Client } from "@connectrpc/connect";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/log";
import { LRUCache } from "lru-cache";
import { createHash } from "node:crypto";
import { type Snapshot, type SnapshotSignature, webhookIdOf } from "../domain/payload.ts";

/** A snapshot and its seal. */
export interface SignedSnapshot {
  snapshot: Snapshot;
  signature: SnapshotSignature;
}

/** Takes note of a snapshot that stays unsent; answers false, so that it can stand in a filter. */
export type DigestAlarm = (snapshot: Snapshot, reason: "bytes_differ" | "signed_differently") => false;

/**
 * Has snapshots signed. One whose bytes are not those its digest was made of, and one for which the notary has signed
 * another digest, is left out with an alarm in the log: neither can be put right by trying again.
 */
export async function signSnapshots(
  deps: { signing: Pick<Client<typeof SigningService>, "signSnapshots">; alarm: DigestAlarm },
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
): Promise<SignedSnapshot[]> {
  const sound = snapshots.filter((snapshot) => isSound(snapshot) || deps.alarm(snapshot, "bytes_differ"));
  if (sound.length === 0) return [];
  const items = sound.map(({ tenantId, documentId, sequence, version, status, sha256 }) => {
    return { tenantId, documentId, sequence: BigInt(sequence), version: BigInt(version), status, sha256 };
  });
  const { results } = await deps.signing.signSnapshots({ items }, { signal });
  if (results.length !== items.length) throw new TypeError("the notary answered with another number of results");
  return sound.flatMap((snapshot, index) => {
    const outcome = results[index]?.outcome;
    if (outcome?.case === "signature") return { snapshot, signature: outcome.value };
    deps.alarm(snapshot, "signed_differently");
    return [];
  });
}

function isSound({ bytes, sha256 }: Snapshot): boolean {
  return createHash("sha256").update(bytes).digest().equals(sha256);
}

const alarmEveryMs = 10 * 60 * 1000;

/** Says in the log that a snapshot cannot be vouched for: once in ten minutes, though every walk meets it again. */
export function createDigestAlarm(log: Logger): DigestAlarm {
  const raised = new LRUCache<string, true>({ max: 10_000, ttl: alarmEveryMs });
  return (snapshot, reason) => {
    const { tenantId, documentId, sequence } = snapshot;
    const webhookId = webhookIdOf(snapshot);
    if (raised.has(webhookId)) return false;
    raised.set(webhookId, true);
    log.error({ alarm: "snapshot_digest", reason, tenant: tenantId, documentId, sequence }, "snapshot stays unsent");
    return false;
  };
}
