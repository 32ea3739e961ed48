import type { ServiceImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import type { Publication } from "../publication.ts";
import { acknowledgeSnapshots } from "./acknowledge-snapshots.ts";
import { attachSignatures } from "./attach-signatures.ts";
import { batchGetPublishedDocuments } from "./batch-get-published-documents.ts";
import { batchTransitionDocuments } from "./batch-transition-documents.ts";
import { getPublishedDocument } from "./get-published-document.ts";
import { getPublishedSite } from "./get-published-site.ts";
import { getPublishedVersion } from "./get-published-version.ts";
import { getSnapshots } from "./get-snapshots.ts";
import { listPendingSnapshots } from "./list-pending-snapshots.ts";
import { listPublishedChanges } from "./list-published-changes.ts";
import { listPublishedDocuments } from "./list-published-documents.ts";
import { listPublishedVersions } from "./list-published-versions.ts";
import { revalidatePublishedPages } from "./revalidate-published-pages.ts";
import { transitionDocument } from "./transition-document.ts";

/** The methods of DocumentService that move documents. */
export function transitionMethods(publication: Publication) {
  return {
    transitionDocument: transitionDocument(publication),
    batchTransitionDocuments: batchTransitionDocuments(publication),
  } satisfies Partial<ServiceImpl<typeof DocumentService>>;
}

/** The services for readers and for delivery. */
export function publicationRoutes({ reads, snapshots }: Publication): RpcRoute[] {
  return [
    route(PublishedDocumentService, {
      listPublishedDocuments: listPublishedDocuments(reads),
      revalidatePublishedPages: revalidatePublishedPages(reads),
      getPublishedDocument: getPublishedDocument(reads),
      batchGetPublishedDocuments: batchGetPublishedDocuments(reads),
      getPublishedSite: getPublishedSite(reads),
      listPublishedChanges: listPublishedChanges(reads),
      listPublishedVersions: listPublishedVersions({ reads, snapshots }),
      getPublishedVersion: getPublishedVersion({ reads, snapshots }),
    }),
    route(SnapshotFeedService, {
      listPendingSnapshots: listPendingSnapshots({ snapshots }),
      getSnapshots: getSnapshots({ snapshots }),
      attachSignatures: attachSignatures({ snapshots }),
      acknowledgeSnapshots: acknowledgeSnapshots({ snapshots }),
    }),
  ];
}
