import { type CallOptions, type Client, Code, ConnectError } from "@connectrpc/connect";
import type { SignSnapshotsResponse, SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createPayload, type FeedSnapshot, type Payload, type SnapshotSignature } from "../domain/payload.ts";

/** Why a snapshot can never be sent. */
export type Unsendable = "bytes_differ" | "signed_differently" | "refused_by_signing";

export interface EndorsedSignature extends SnapshotSignature {
  /** Signing's endorsement for documents, which delivery passes on unread. */
  readonly endorsement: Uint8Array;
}

/**
 * Signing's result for a snapshot. `isUnattested`: signing does not accept documents' attestation,
 * but may later, when both have the same key again, so the snapshot stays pending.
 */
export type SignResult =
  | { readonly snapshot: FeedSnapshot; readonly isUnattested: true }
  | { readonly snapshot: FeedSnapshot; readonly signature: EndorsedSignature; readonly payload: Payload }
  | { readonly snapshot: FeedSnapshot; readonly unsendable: Unsendable };

interface SignSnapshotsDeps {
  signing: Pick<Client<typeof SigningService>, "signSnapshots">;
}

/**
 * Has snapshots signed. A snapshot that was signed before gets the same signature, or a new one
 * when the key of the old one was revoked. Rejects when signing is unavailable.
 *
 * @param snapshots at most 256
 * @param trace options of the call, from `tracedFor`
 */
export async function signSnapshots(
  deps: SignSnapshotsDeps,
  snapshots: readonly FeedSnapshot[],
  signal: AbortSignal,
  trace: CallOptions = {},
): Promise<SignResult[]> {
  const sound = snapshots.filter(({ isSound }) => isSound);
  const results = sound.length > 0 ? await sign(deps, sound, { ...trace, signal }) : [];
  const bySnapshot = new Map(results.map((result) => [result.snapshot, result]));
  return snapshots.map((snapshot) => bySnapshot.get(snapshot) ?? { snapshot, unsendable: "bytes_differ" });
}

async function sign(
  deps: SignSnapshotsDeps,
  snapshots: readonly FeedSnapshot[],
  options: CallOptions,
): Promise<SignResult[]> {
  const items = snapshots.map(({ tenantId, documentId, sequence, version, status, sha256, attestation }) => {
    return { tenantId, documentId, sequence: BigInt(sequence), version: BigInt(version), status, sha256, attestation };
  });
  let response: SignSnapshotsResponse;
  try {
    response = await deps.signing.signSnapshots({ items }, options);
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.InvalidArgument) throw error;
    if (snapshots.length === 1) return snapshots.map((snapshot) => ({ snapshot, unsendable: "refused_by_signing" }));
    // Signing refuses a whole batch for one malformed item, so each item gets a call of its own.
    const alone = snapshots.map((snapshot) => sign(deps, [snapshot], options));
    return (await Promise.all(alone)).flat();
  }
  if (response.results.length !== items.length) throw new TypeError("signing answered with another number of results");
  return snapshots.map((snapshot, index) => {
    const outcome = response.results[index]?.outcome;
    if (outcome?.case === "unattested") return { snapshot, isUnattested: true };
    if (outcome?.case !== "signature") return { snapshot, unsendable: "signed_differently" };
    const { keyId, statement, value, signingNumber, endorsement } = outcome.value;
    const signature = { keyId, statement, value, signingNumber: Math.max(1, signingNumber), endorsement };
    return { snapshot, signature, payload: createPayload(snapshot, signature) };
  });
}
