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
import { signDigests, type SignDigestsDeps, type SignOutcome } from "../domain/sign-digests.ts";
import { parseSnapshotDigest, type SnapshotDigest } from "../domain/snapshot-digest.ts";

const itemsMax = 256;

export interface SignSnapshotsDeps extends SignDigestsDeps {
  log: Pick<Logger, "warn" | "error">;
}

/**
 * Implements `SignSnapshots`. Logs each refused digest: a second text was to be signed as the same
 * snapshot.
 */
export function signSnapshots(deps: SignSnapshotsDeps): MethodImpl<typeof SigningService.method.signSnapshots> {
  return async ({ items }) => {
    const digests = fromProto(items);
    const outcomes = await signDigests(deps, digests);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.kind === "signed") continue;
      const { tenantId: tenant, documentId, sequence } = digests[index] ?? {};
      const snapshot = { tenant, documentId, sequence };
      if (outcome.kind === "conflict") deps.log.warn(snapshot, "refused a second digest of a signed snapshot");
      else deps.log.error({ alarm: "ledger", ...snapshot }, "the ledger holds a signature that no key made");
    }
    return { results: outcomes.map(toProto) };
  };
}

function fromProto(items: readonly SnapshotDigestMessage[]): SnapshotDigest[] {
  if (items.length < 1 || items.length > itemsMax) {
    const message = `must hold 1 to ${itemsMax} items, not ${items.length}`;
    throw new DomainError("invalid", `items ${message}`, { violations: [{ pointer: "/items", message }] });
  }
  const violations: Violation[] = [];
  const digests = items.flatMap((item, index) => parseSnapshotDigest(item, `/items/${index}`, violations) ?? []);
  const [first] = violations;
  if (first) throw new DomainError("invalid", `${first.pointer} ${first.message}`, { violations });
  return digests;
}

function toProto(outcome: SignOutcome): MessageInitShape<typeof SignSnapshotResultSchema> {
  if (outcome.kind !== "signed") return { outcome: { case: "conflictingSha256", value: outcome.standingSha256 } };
  const { keyId, statement, value, signedAt } = outcome.signature;
  return {
    outcome: { case: "signature", value: { keyId, statement, value, signedAt: timestampFromDate(signedAt) } },
  };
}
