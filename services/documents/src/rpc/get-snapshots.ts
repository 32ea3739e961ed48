import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SnapshotKey } from "../domain/publication/snapshot-feed.ts";
import type { SnapshotStore } from "../store/snapshot-store.ts";
import { fromReferences, toSnapshot } from "./snapshot-message.ts";

const referencesMax = 256;
const bytesMax = 4 * 1024 * 1024;

/** Reads snapshots by reference, in the order of the references. */
export function getSnapshots(deps: {
  snapshots: Pick<SnapshotStore, "find">;
}): MethodImpl<typeof SnapshotFeedService.method.getSnapshots> {
  return async ({ references }, { signal }) => {
    const keys = fromReferences(references, referencesMax);
    const found = await deps.snapshots.find(keys, bytesMax, signal);
    const byKey = new Map(found.map((snapshot) => [nameOf(snapshot), snapshot]));
    const names = [...new Set(keys.map(nameOf))];
    return { snapshots: names.flatMap((name) => byKey.get(name) ?? []).map(toSnapshot) };
  };
}

function nameOf({ tenantId, documentId, sequence }: SnapshotKey): string {
  return `${tenantId}/${documentId}/${sequence}`;
}
