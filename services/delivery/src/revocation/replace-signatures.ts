import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Reference } from "../domain/payload.ts";
import { pullSnapshots } from "../snapshots/pull-snapshots.ts";
import { settlementToProto } from "../ingest/settle-snapshots.ts";
import { type SignResult, signSnapshots } from "../snapshots/sign-snapshots.ts";
import type { ResendStore } from "../store/resend-store.ts";

export interface ReplaceSignaturesDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots" | "settleSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  readonly resends: Pick<ResendStore, "add">;
  /** See `DeliveryPace`. */
  readonly resigningGraceMs: number;
  readonly log: Pick<Logger, "error">;
}

/** Signing's final result for a snapshot. */
export type Signed = Exclude<SignResult, { isUnattested: true }>;

/**
 * Has snapshots signed again, notes in `resends` that they must be sent again, and hands the
 * signatures to documents. The notes come first: after the hand-over, documents has no old
 * signature by which a repetition could find the snapshots.
 *
 * @returns the number of replaced signatures
 */
export async function replaceSignatures(
  deps: ReplaceSignaturesDeps,
  references: readonly Reference[],
  signal: AbortSignal,
): Promise<number> {
  let replaced = 0;
  for await (const page of pullSnapshots(deps.feed, references, signal)) {
    const results = requireAttested(await signSnapshots(deps, page, signal));
    for (const result of results) if ("unsendable" in result) reportUnsendable(deps.log, result);
    const settlements = results.flatMap((result) => ("signature" in result ? settlementToProto(result) : []));
    if (settlements.length === 0) continue;
    const signed = results.flatMap((result) => ("signature" in result ? result.snapshot : []));
    await deps.resends.add(signed, new Date(Date.now() + deps.resigningGraceMs));
    await deps.feed.settleSnapshots({ settlements }, { signal });
    replaced += settlements.length;
  }
  return replaced;
}

/**
 * @throws Error when signing does not accept the attestation of one of the snapshots. Signing may
 * accept it later, so the caller must have all of them signed again
 */
export function requireAttested(results: readonly SignResult[]): Signed[] {
  return results.map((result) => {
    if ("isUnattested" in result) throw new Error("signing does not accept what documents attested");
    return result;
  });
}

/** The snapshot keeps the signature of the revoked key, which no longer verifies. */
function reportUnsendable(log: Pick<Logger, "error">, result: Extract<Signed, { unsendable: string }>): void {
  const { tenantId: tenant, documentId, sequence } = result.snapshot;
  const reason = result.unsendable;
  log.error({ alarm: "snapshot_unsendable", reason, tenant, documentId, sequence }, "snapshot is not signed anew");
}
