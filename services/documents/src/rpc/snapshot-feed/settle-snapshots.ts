import type { MethodImpl } from "@connectrpc/connect";
import type {
  SnapshotFeedService,
  SnapshotSettlement as SettlementMessage,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { SnapshotKey, SnapshotSettlement, SnapshotSignature } from "../../domain/snapshots/snapshot-feed.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { fromReferences, fromSignature } from "./messages.ts";

const settlementsMax = 256;
const reasonCharactersMax = 256;

/** Whether signing made the signature; always false when this process has no key. */
export type IsEndorsed = (signature: SnapshotSignature, endorsement: Uint8Array) => boolean;

export interface SettleSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "settle">;
  isEndorsed: IsEndorsed;
  log: Pick<Logger, "error">;
}

/**
 * Ends the pending state of snapshots, and stores their signatures. A signature without signing's
 * endorsement is refused: otherwise a caller with delivery's identity could permanently replace a
 * genuine one.
 */
export function settleSnapshots(
  deps: SettleSnapshotsDeps,
): MethodImpl<typeof SnapshotFeedService.method.settleSnapshots> {
  return async ({ settlements }) => {
    const keys = fromReferences(
      settlements.map(({ reference }) => reference),
      settlementsMax,
    );
    const parsed = keys.map((key, at) => fromSettlement(key, settlements[at]));
    const isAccepted = (each: SnapshotSettlement, at: number) =>
      !("signature" in each) || deps.isEndorsed(each.signature, settlements[at]?.endorsement ?? new Uint8Array());
    const accepted = parsed.filter(isAccepted);
    const missing = accepted.length > 0 ? await deps.snapshots.settle(lastOfEach(accepted)) : 0;
    refuse(
      deps.log,
      parsed.filter((each) => !accepted.includes(each)),
    );
    if (missing > 0) throw new DomainError("not_found", `${missing} of these snapshots do not exist`);
    return {};
  };
}

/**
 * Refuses the call if there are unendorsed signatures. Logs one line for all of them, because every
 * signature is refused while documents and signing have different attestation keys.
 *
 * @throws DomainError `failed_precondition`
 */
function refuse(log: SettleSnapshotsDeps["log"], unendorsed: readonly SnapshotSettlement[]): void {
  const [first] = unendorsed;
  if (!first) return;
  const { tenantId: tenant, documentId, sequence } = first;
  const count = unendorsed.length;
  log.error(
    { alarm: "attestation", count, tenant, documentId, sequence },
    "refused signatures that signing did not endorse",
  );
  throw new DomainError("failed_precondition", `signing did not endorse ${count} of these signatures`);
}

function fromSettlement(key: SnapshotKey, settlement: SettlementMessage | undefined): SnapshotSettlement {
  const { outcome } = settlement ?? {};
  if (outcome?.case === "signature") return { ...key, signature: fromSignature(key, outcome.value) };
  const reason = outcome?.case === "unsendable" ? outcome.value : "";
  if (reason !== "" && reason.length <= reasonCharactersMax) return { ...key, unsendable: reason };
  throw new DomainError(
    "invalid",
    `a settlement has a signature, or a reason of 1 to ${reasonCharactersMax} characters`,
  );
}

function lastOfEach(settlements: readonly SnapshotSettlement[]): SnapshotSettlement[] {
  const nameOf = ({ tenantId, documentId, sequence }: SnapshotKey) => `${tenantId}/${documentId}/${sequence}`;
  return [...new Map(settlements.map((each) => [nameOf(each), each])).values()];
}
