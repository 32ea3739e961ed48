import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { type MeshRoute, meshRoute, route } from "@vidimus/kit/rpc/doors/shared/route";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { type Attest, getSnapshots } from "./get-snapshots.ts";
import { listPendingSnapshots } from "./list-pending-snapshots.ts";
import { listSnapshots, type ListSnapshotsDeps } from "./list-snapshots.ts";
import { settleSnapshots, type SettleSnapshotsDeps } from "./settle-snapshots.ts";

interface SnapshotFeedDeps extends ListSnapshotsDeps, Omit<SettleSnapshotsDeps, "snapshots"> {
  snapshots: SnapshotStore;
  attest: Attest;
}

export function snapshotFeedRoute(deps: SnapshotFeedDeps): MeshRoute {
  const methods = route(SnapshotFeedService, {
    listPendingSnapshots: listPendingSnapshots(deps),
    getSnapshots: getSnapshots(deps),
    settleSnapshots: settleSnapshots(deps),
    listSnapshots: listSnapshots(deps),
  });
  return meshRoute(methods, {
    listPendingSnapshots: ["delivery"],
    getSnapshots: ["delivery"],
    settleSnapshots: ["delivery"],
    listSnapshots: ["delivery"],
  });
}
