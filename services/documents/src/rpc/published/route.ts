import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { type MeshRoute, meshRoute, route } from "@vidimus/kit/rpc/doors/shared/route";
import type { BatchGetPublishedDocumentsDeps } from "../../domain/published-reads/read-documents.ts";
import type { ListPublishedChangesDeps } from "../../domain/published-reads/read-changes.ts";
import type { GetPublishedSiteDeps } from "../../domain/published-reads/read-site.ts";
import type { ListPublishedDocumentsDeps } from "../../domain/published-reads/read-published-page.ts";
import { batchGetPublishedDocuments } from "./batch-get-published-documents.ts";
import { getPublishedDocument } from "./get-published-document.ts";
import { getPublishedSite } from "./get-published-site.ts";
import { getPublishedVersion, type GetPublishedVersionDeps } from "./get-published-version.ts";
import { listPublishedChanges } from "./list-published-changes.ts";
import { listPublishedDocuments } from "./list-published-documents.ts";
import { listPublishedVersions, type ListPublishedVersionsDeps } from "./list-published-versions.ts";
import { revalidatePublishedPages } from "./revalidate-published-pages.ts";

type PublishedDocumentServiceDeps = BatchGetPublishedDocumentsDeps &
  GetPublishedSiteDeps &
  GetPublishedVersionDeps &
  ListPublishedChangesDeps &
  ListPublishedDocumentsDeps &
  ListPublishedVersionsDeps;

export function publishedDocumentRoute(deps: PublishedDocumentServiceDeps): MeshRoute {
  const methods = route(PublishedDocumentService, {
    listPublishedDocuments: listPublishedDocuments(deps),
    revalidatePublishedPages: revalidatePublishedPages(deps),
    getPublishedDocument: getPublishedDocument(deps),
    batchGetPublishedDocuments: batchGetPublishedDocuments(deps),
    getPublishedSite: getPublishedSite(deps),
    listPublishedChanges: listPublishedChanges(deps),
    listPublishedVersions: listPublishedVersions(deps),
    getPublishedVersion: getPublishedVersion(deps),
  });
  return meshRoute(methods, {
    listPublishedDocuments: ["gateway"],
    revalidatePublishedPages: ["gateway"],
    getPublishedDocument: ["gateway"],
    batchGetPublishedDocuments: ["gateway"],
    getPublishedSite: ["gateway"],
    listPublishedChanges: ["gateway"],
    listPublishedVersions: ["gateway"],
    getPublishedVersion: ["gateway"],
  });
}
