import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { fromReferences } from "./messages.ts";

const referencesMax = 1_000;

/** The store of snapshots. */
interface AcknowledgeSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "acknowledge">;
}

/** Makes snapshots pending no more. */
export function acknowledgeSnapshots(
  deps: AcknowledgeSnapshotsDeps,
): MethodImpl<typeof SnapshotFeedService.method.acknowledgeSnapshots> {
  return async ({ references }) => {
    await deps.snapshots.acknowledge(fromReferences(references, referencesMax));
    return {};
  };
}
