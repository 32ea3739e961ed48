import type { Client } from "@connectrpc/connect";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { LRUCache } from "lru-cache";
import { createHash } from "node:crypto";
import { type Snapshot, type SnapshotSignature, webhookIdOf } from "../domain/payload.ts";

/** A snapshot and its signature. */
export interface SignedSnapshot {
  snapshot: Snapshot;
  signature: SnapshotSignature;
}

/**
 * Why a snapshot is not sent. `unattested`: signing does not accept what documents attested; it may
 * when both have the same key again, so the snapshot stays pending.
 */
type Mismatch = "bytes_differ" | "signed_differently" | "unattested";

/** Reports a snapshot that is not sent. */
type ReportMismatch = (snapshot: Snapshot, reason: Mismatch) => void;

interface SignSnapshotsDeps {
  signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  reportMismatch: ReportMismatch;
}

/**
 * Has snapshots signed. A snapshot whose bytes differ from its digest, or for which signing has
 * signed another digest, is reported and left out: trying again cannot repair it.
 */
export async function signSnapshots(
  { signing, reportMismatch }: SignSnapshotsDeps,
  snapshots: readonly Snapshot[],
  signal: AbortSignal,
): Promise<SignedSnapshot[]> {
  const { sound = [], differing = [] } = Object.groupBy(snapshots, (each) => (isSound(each) ? "sound" : "differing"));
  for (const snapshot of differing) reportMismatch(snapshot, "bytes_differ");
  if (sound.length === 0) return [];
  const items = sound.map(({ tenantId, documentId, sequence, version, status, sha256, attestation }) => {
    const numbers = { sequence: BigInt(sequence), version: BigInt(version) };
    return { tenantId, documentId, ...numbers, status, sha256, attestation };
  });
  const { results } = await signing.signSnapshots({ items }, { signal });
  if (results.length !== items.length) throw new TypeError("signing answered with another number of results");
  return sound.flatMap((snapshot, index) => {
    const outcome = results[index]?.outcome;
    if (outcome?.case === "signature") return { snapshot, signature: outcome.value };
    reportMismatch(snapshot, outcome?.case === "unattested" ? "unattested" : "signed_differently");
    return [];
  });
}

function isSound({ bytes, sha256 }: Snapshot): boolean {
  return createHash("sha256").update(bytes).digest().equals(sha256);
}

const reportIntervalMs = 10 * 60 * 1000;

/** Logs each snapshot once in ten minutes, because every walk of the reconciler finds it again. */
export function createReportMismatch(log: Logger): ReportMismatch {
  const reported = new LRUCache<string, true>({ max: 10_000, ttl: reportIntervalMs });
  return (snapshot, reason) => {
    const { tenantId, documentId, sequence } = snapshot;
    const webhookId = webhookIdOf(snapshot);
    if (reported.has(webhookId)) return;
    reported.set(webhookId, true);
    log.error({ alarm: "snapshot_digest", reason, tenant: tenantId, documentId, sequence }, "snapshot is not sent");
  };
}
