import type { Client } from "@connectrpc/connect";
import type { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { type Reference, snapshotKey } from "../domain/payload.ts";
import { pullSnapshots } from "../snapshots/pull-snapshots.ts";
import { referenceFromProto, referenceToProto } from "../snapshots/references.ts";
import { signSnapshots } from "../snapshots/sign-snapshots.ts";
import type { ResendStore } from "../store/resend-store.ts";
import type { SignedAnew } from "./plan-resends.ts";
import { type ReplaceSignaturesDeps, requireAttested, type Signed } from "./replace-signatures.ts";

export interface SendResendsDeps extends ReplaceSignaturesDeps {
  readonly audit: Pick<Client<typeof SignatureAuditService>, "getSignatures">;
  readonly resends: Pick<ResendStore, "add" | "due" | "remove">;
  readonly sendAgain: (anew: readonly SignedAnew[]) => Promise<number>;
}

/**
 * Takes some of a tenant's snapshots that were signed again, and sends those again that are the
 * newest of their documents; older ones are of no use to receivers. Once the deliveries are stored,
 * all that were taken are removed from `resends`.
 *
 * @param limit most snapshots that are taken; at most 256, the limit of `getSignatures`
 * @returns how many deliveries were stored and are left to be sent
 */
export async function sendResends(
  deps: SendResendsDeps,
  tenantId: string,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const listed = await deps.resends.due(tenantId, new Date(), limit);
  if (listed.length === 0) return 0;
  let stored = 0;
  for await (const page of pullSnapshots(deps.feed, await newestOf(deps, listed, signal), signal)) {
    // Pending snapshots are sent by ingest, with the new signature.
    const settled = page.filter(({ isPending }) => !isPending);
    const results = settled.length > 0 ? requireAttested(await signSnapshots(deps, settled, signal)) : [];
    stored += await deps.sendAgain(results.flatMap(anewOf));
  }
  await deps.resends.remove(listed);
  return stored;
}

/** Keeps only references whose snapshot is the newest of its document, as documents answers. */
async function newestOf(
  { audit }: Pick<SendResendsDeps, "audit">,
  references: readonly Reference[],
  signal: AbortSignal,
): Promise<Reference[]> {
  const { signatures } = await audit.getSignatures({ references: references.map(referenceToProto) }, { signal });
  const newest = new Set(
    signatures.flatMap(({ reference, newestSequence }) =>
      reference && reference.sequence === newestSequence ? snapshotKey(referenceFromProto(reference)) : [],
    ),
  );
  return references.filter((reference) => newest.has(snapshotKey(reference)));
}

/** The snapshot, when it had another signature before; empty otherwise. */
function anewOf(result: Signed): SignedAnew[] {
  if (!("signature" in result) || result.signature.signingNumber === 1) return [];
  return [{ snapshot: result.snapshot, signingNumber: result.signature.signingNumber }];
}
