import type { MethodImpl } from "@connectrpc/connect";
import type {
  SnapshotFeedService,
  SnapshotSettlement as SettlementMessage,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { DomainError } from "@vidimus/kit/errors";
import type { SnapshotKey, SnapshotSettlement } from "../../domain/snapshots/snapshot-feed.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { fromReferences, fromSignature } from "./messages.ts";

const settlementsMax = 256;
const reasonCharactersMax = 256;

/** The store of snapshots. */
interface SettleSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "settle">;
}

/** Ends the pending state of snapshots, and keeps their signatures. */
export function settleSnapshots(
  deps: SettleSnapshotsDeps,
): MethodImpl<typeof SnapshotFeedService.method.settleSnapshots> {
  return async ({ settlements }) => {
    const keys = fromReferences(
      settlements.map(({ reference }) => reference),
      settlementsMax,
    );
    const missing = await deps.snapshots.settle(
      lastOfEach(keys.map((key, at) => fromSettlement(key, settlements[at]))),
    );
    if (missing > 0) throw new DomainError("not_found", `${missing} of these snapshots do not exist`);
    return {};
  };
}

function fromSettlement(key: SnapshotKey, settlement: SettlementMessage | undefined): SnapshotSettlement {
  const { outcome } = settlement ?? {};
  if (outcome?.case === "signature") return { ...key, signature: fromSignature(outcome.value) };
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
