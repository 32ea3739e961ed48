import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import type { HistoryDeps } from "../domain/editing/document-history.ts";
import type { VersionDeps } from "../domain/editing/document-versions.ts";
import type { EditDeps } from "../domain/editing/update-document.ts";
import type { IntakeDeps } from "../domain/intake/take-in.ts";
import type { Publication } from "../publication.ts";
import { batchCreateDocuments } from "./batch-create-documents.ts";
import { createDocument } from "./create-document.ts";
import { getDocument } from "./get-document.ts";
import { getDocumentVersion } from "./get-document-version.ts";
import { importDocuments } from "./import-documents.ts";
import { listDocumentHistory } from "./list-document-history.ts";
import { listDocumentVersions } from "./list-document-versions.ts";
import { listDocuments, type ListDocumentsDeps } from "./list-documents.ts";
import { transitionMethods } from "./publication-routes.ts";
import { updateDocument } from "./update-document.ts";
import { validateDocument } from "./validate-document.ts";

/** What the editor's surface needs. */
export type DocumentDeps = IntakeDeps &
  EditDeps &
  VersionDeps &
  HistoryDeps &
  ListDocumentsDeps & { publication: Publication };

/** The editor's surface. */
export function documentRoute(deps: DocumentDeps): RpcRoute {
  return route(DocumentService, {
    createDocument: createDocument(deps),
    batchCreateDocuments: batchCreateDocuments(deps),
    importDocuments: importDocuments(deps),
    validateDocument: validateDocument(deps),
    updateDocument: updateDocument(deps),
    getDocument: getDocument(deps),
    listDocuments: listDocuments(deps),
    listDocumentVersions: listDocumentVersions(deps),
    getDocumentVersion: getDocumentVersion(deps),
    listDocumentHistory: listDocumentHistory(deps),
    ...transitionMethods(deps.publication),
  });
}
