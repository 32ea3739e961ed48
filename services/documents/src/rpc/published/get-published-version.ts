import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { type PublicationReader, requireVisible } from "../../domain/published-reads/read-document.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import { toSnapshot } from "../snapshot-feed/messages.ts";

const bytesMax = 8 * 1024 * 1024;

export interface GetPublishedVersionDeps {
  publications: PublicationReader;
  snapshots: Pick<SnapshotStore, "findUsable">;
}

export function getPublishedVersion(
  deps: GetPublishedVersionDeps,
): MethodImpl<typeof PublishedDocumentService.method.getPublishedVersion> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const { documentId } = await requireVisible(
      deps.publications,
      tenantId,
      requireDocumentId(request.documentId),
      signal,
    );
    const version = Number(request.version);
    const snapshots = await deps.snapshots.findUsable(tenantId, documentId, version, bytesMax, signal);
    if (snapshots.length === 0) {
      throw new DomainError("not_found", `version ${request.version} of document ${documentId} was never published`);
    }
    return { version: request.version, snapshots: snapshots.map(toSnapshot) };
  };
}
