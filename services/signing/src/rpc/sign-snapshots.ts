import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  SigningService,
  SignSnapshotResultSchema,
  SnapshotDigest as SnapshotDigestMessage,
} from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { DomainError, type Violation } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import {
  type AttestedDigest,
  type AttestedOutcome,
  signAttested,
  type SignAttestedDeps,
} from "../domain/attested-digests.ts";
import { parseSnapshotDigest, type SnapshotDigest } from "../domain/snapshot-digest.ts";

const itemsMax = 256;

const unattestedReason = "the attestation is missing, or documents made it with another key or for another snapshot";

export interface SignSnapshotsDeps extends SignAttestedDeps {
  log: Pick<Logger, "warn" | "error">;
}

export function signSnapshots(deps: SignSnapshotsDeps): MethodImpl<typeof SigningService.method.signSnapshots> {
  return async ({ items }) => {
    const digests = fromProto(items);
    const outcomes = await signAttested(deps, digests);
    reportRefusals(deps.log, digests, outcomes);
    return { results: outcomes.map(toProto) };
  };
}

function reportRefusals(
  log: SignSnapshotsDeps["log"],
  digests: readonly AttestedDigest[],
  outcomes: readonly AttestedOutcome[],
): void {
  const refused = outcomes.flatMap(({ kind }, index) => {
    const digest = digests[index]?.digest;
    if (!digest || kind === "signed") return [];
    return { kind, tenant: digest.tenantId, documentId: digest.documentId, sequence: digest.sequence };
  });
  for (const { kind, ...snapshot } of refused) {
    if (kind === "conflict") log.warn(snapshot, "refused a second digest of a signed snapshot");
    if (kind === "forged") log.error({ alarm: "ledger", ...snapshot }, "the ledger holds a signature that no key made");
  }
  // One log line for a call, because with a wrong key on either side every digest is refused.
  const unattested = refused.filter(({ kind }) => kind === "unattested");
  const [first] = unattested;
  if (!first) return;
  const { kind: _, ...snapshot } = first;
  const count = unattested.length;
  log.error({ alarm: "attestation", count, ...snapshot }, "refused snapshots that documents did not attest");
}

function fromProto(items: readonly SnapshotDigestMessage[]): AttestedDigest[] {
  if (items.length < 1 || items.length > itemsMax) {
    const message = `must hold 1 to ${itemsMax} items, not ${items.length}`;
    throw new DomainError("invalid", `items ${message}`, { violations: [{ pointer: "/items", message }] });
  }
  const violations: Violation[] = [];
  const digests = items.flatMap((item, index) => {
    const digest: SnapshotDigest | undefined = parseSnapshotDigest(item, `/items/${index}`, violations);
    return digest ? { digest, attestation: item.attestation } : [];
  });
  const [first] = violations;
  if (first) throw new DomainError("invalid", `${first.pointer} ${first.message}`, { violations });
  return digests;
}

function toProto(outcome: AttestedOutcome): MessageInitShape<typeof SignSnapshotResultSchema> {
  if (outcome.kind === "unattested") return { outcome: { case: "unattested", value: unattestedReason } };
  if (outcome.kind !== "signed") return { outcome: { case: "conflictingSha256", value: outcome.standingSha256 } };
  const { keyId, statement, value, signedAt, signing: signingNumber } = outcome.signature;
  const { endorsement } = outcome;
  const signature = { keyId, statement, value, signedAt: timestampFromDate(signedAt), signingNumber, endorsement };
  return { outcome: { case: "signature", value: signature } };
}
