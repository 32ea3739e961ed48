import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { DomainError } from "@vidimus/kit/errors";
import { decodePendingToken, encodePendingToken } from "../domain/publication/snapshot-feed.ts";
import type { SnapshotStore } from "../store/snapshot-store.ts";
import { toReference } from "./snapshot-message.ts";

const limitMax = 1_000;
const limitDefault = 500;

/** Walks the pending snapshots of all tenants, oldest first. */
export function listPendingSnapshots(deps: {
  snapshots: Pick<SnapshotStore, "listPending">;
}): MethodImpl<typeof SnapshotFeedService.method.listPendingSnapshots> {
  return async (request, { signal }) => {
    const limit = request.limit || limitDefault;
    if (limit > limitMax) throw new DomainError("invalid", `limit must be from 1 to ${limitMax}`);
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
