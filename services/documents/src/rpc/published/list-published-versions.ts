import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { walkOf } from "../../domain/published-reads/page-cursor.ts";
import { type PublicationReader, requireVisible } from "../../domain/published-reads/read-document.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { pageSize, documentPages } from "../requests.ts";

export interface ListPublishedVersionsDeps {
  publications: PublicationReader;
  snapshots: Pick<SnapshotStore, "listUsableVersions">;
}

export function listPublishedVersions(
  deps: ListPublishedVersionsDeps,
): MethodImpl<typeof PublishedDocumentService.method.listPublishedVersions> {
  return async (request, { signal }) => {
    const limit = pageSize(request.limit, documentPages);
    const tenantId = requireTenantId(request.tenantId);
    const { documentId } = await requireVisible(
      deps.publications,
      tenantId,
      requireDocumentId(request.documentId),
      signal,
    );
    const walk = walkOf(["versions", documentId]);
    const before = request.cursor === "" ? undefined : decodeVersion(request.cursor, walk);
    const page = { limit: limit + 1, ...(before === undefined ? {} : { before }) };
    const found = await deps.snapshots.listUsableVersions(tenantId, documentId, page, signal);
    const versions = found.slice(0, limit);
    const last = versions.at(-1);
    return {
      versions: versions.map(({ version, sequence, updatedAt, sha256 }) => ({
        version: BigInt(version),
        sequence: BigInt(sequence),
        updatedAt: timestampFromDate(updatedAt),
        sha256,
      })),
      nextCursor: last ? encodeOpaqueToken([last.version, walk]) : "",
      hasMore: found.length > limit,
    };
  };
}

function decodeVersion(cursor: string, walk: string): number {
  const [version, named, ...more] = decodeOpaqueToken(cursor) ?? [];
  if (typeof version === "number" && Number.isSafeInteger(version) && named === walk && more.length === 0) {
    return version;
  }
  throw new DomainError("invalid", "cursor must be the nextCursor of a page of the same document");
}
