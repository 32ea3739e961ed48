import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { decodePendingToken, encodePendingToken } from "../../domain/snapshots/snapshot-feed.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { feedPages, toReference } from "./messages.ts";
import { pageSize } from "../requests.ts";

interface ListPendingSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "listPending">;
}

/** Lists the pending snapshots of all tenants, oldest first. */
export function listPendingSnapshots(
  deps: ListPendingSnapshotsDeps,
): MethodImpl<typeof SnapshotFeedService.method.listPendingSnapshots> {
  return async (request, { signal }) => {
    const limit = pageSize(request.limit, feedPages);
    const after = decodePendingToken(request.pageToken);
    const before = request.committedBefore && timestampDate(request.committedBefore);
    const query = { limit, ...(after ? { after } : {}), ...(before ? { committedBefore: before } : {}) };
    const rows = await deps.snapshots.listPending(query, signal);
    const last = rows.at(-1);
    return {
      references: rows.map(toReference),
      nextPageToken: last && rows.length === limit ? encodePendingToken(last) : "",
    };
  };
}
