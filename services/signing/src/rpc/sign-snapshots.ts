import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  SigningService,
  SignSnapshotResultSchema,
  SnapshotDigest as SnapshotDigestMessage,
} from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { DomainError, type Violation } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/log";
import { parseSnapshotDigest } from "../domain/snapshot-digest.ts";
import { signSnapshots, type SignOutcome, type SignSnapshotsDeps } from "../domain/sign-snapshots.ts";
import type { SnapshotDigest } from "../domain/statement.ts";

const itemsMax = 256;

/** Implements `SignSnapshots`. A refused digest is logged: somebody asked to seal a second text as the same snapshot. */
export function signSnapshotsRpc(
  deps: SignSnapshotsDeps & { log: Pick<Logger, "warn"> },
): MethodImpl<typeof SigningService.method.signSnapshots> {
  return async ({ items }) => {
    const digests = fromProto(items);
    const outcomes = await signSnapshots(deps, digests);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.kind === "signed") continue;
      const { tenantId: tenant, documentId, sequence } = digests[index] ?? {};
      deps.log.warn({ tenant, documentId, sequence }, "refused a second digest of a signed snapshot");
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
  if (outcome.kind === "conflict") return { outcome: { case: "conflictingSha256", value: outcome.standingSha256 } };
  const { keyId, statement, value, signedAt } = outcome.entry;
  return {
    outcome: { case: "signature", value: { keyId, statement, value, signedAt: timestampFromDate(signedAt) } },
  };
}
