import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import { type DocumentDeps, requireLive } from "../domain/publication/read-document.ts";
import type { SnapshotStore } from "../store/snapshot-store.ts";

const limitMax = 200;

/** The versions of a document that were usable, newest first. */
export function listPublishedVersions(deps: {
  reads: Pick<DocumentDeps, "find">;
  snapshots: Pick<SnapshotStore, "listUsableVersions">;
}): MethodImpl<typeof PublishedDocumentService.method.listPublishedVersions> {
  return async (request, { signal }) => {
    const { limit } = request;
    if (limit < 1 || limit > limitMax) throw new DomainError("invalid", `limit must be from 1 to ${limitMax}`);
    const tenantId = requireTenantId(request.tenantId);
    const { documentId } = await requireLive(deps.reads, tenantId, requireDocumentId(request.documentId), signal);
    const before = decodeVersion(request.cursor);
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
      nextCursor: last ? encodeVersion(last.version) : "",
      hasMore: found.length > limit,
    };
  };
}

function encodeVersion(version: number): string {
  return Buffer.from(`1 ${version}`).toString("base64url");
}

/** Undefined for anything that was not made here. */
function decodeVersion(cursor: string): number | undefined {
  const match = cursor.length > 64 ? null : /^1 (\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString());
  return match ? Number(match[1]) : undefined;
}
