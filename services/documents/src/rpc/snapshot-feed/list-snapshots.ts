import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  ListSnapshotsRequest,
  SnapshotFeedService,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { encodeListToken, type SnapshotQuery, toListPosition } from "../../domain/snapshots/snapshot-feed.ts";
import type { PublicationStore } from "../../store/publication-store.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { pagePosition, pageSize } from "../requests.ts";
import { feedPages, toReference } from "./messages.ts";

const typesMax = 100;

/**
 * Requests with `latest_only` are answered from `publications`: a publication has the sequence and
 * the commit time of its document's newest snapshot.
 */
export interface ListSnapshotsDeps {
  snapshots: Pick<SnapshotStore, "list">;
  publications: Pick<PublicationStore, "listLatestSnapshots">;
}

/** Lists a tenant's snapshots, oldest first. */
export function listSnapshots({
  snapshots,
  publications,
}: ListSnapshotsDeps): MethodImpl<typeof SnapshotFeedService.method.listSnapshots> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const query = fromListRequest(request);
    const found = query.latestOnly
      ? await publications.listLatestSnapshots(tenantId, query, signal)
      : await snapshots.list(tenantId, query, signal);
    const last = found.at(-1);
    return {
      snapshots: found.map((each) => ({
        reference: toReference(each),
        committedAt: timestampFromDate(each.committedAt),
      })),
      nextPageToken: last && found.length === query.limit ? encodeListToken(last) : "",
    };
  };
}

function fromListRequest(request: ListSnapshotsRequest): SnapshotQuery {
  const { committedSince: since, committedUntil: until, documentTypes: types, latestOnly } = request;
  if (types.length > typesMax) throw new DomainError("invalid", `name up to ${typesMax} types, not ${types.length}`);
  const after = pagePosition(request.pageToken, toListPosition);
  return {
    types,
    latestOnly,
    limit: pageSize(request.limit, feedPages),
    ...(since ? { since: timestampDate(since) } : {}),
    ...(until ? { until: timestampDate(until) } : {}),
    ...(after ? { after } : {}),
  };
}
