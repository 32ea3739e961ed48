import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import {
  type MeshRoute,
  meshRoute,
  partialRoute,
  route,
  type TeamsRoute,
  teamsRoute,
} from "@vidimus/kit/rpc/doors/shared/route";
import type { ListDocumentHistoryDeps } from "../../domain/editing/document-history.ts";
import type { GetDocumentVersionDeps, ListDocumentVersionsDeps } from "../../domain/editing/document-versions.ts";
import type { UpdateDocumentDeps } from "../../domain/editing/update-document.ts";
import type { IntakeDeps } from "../../domain/intake/take-in.ts";
import { batchCreateDocuments } from "./batch-create-documents.ts";
import { createDocument } from "./create-document.ts";
import { getDocument } from "./get-document.ts";
import { getDocumentVersion } from "./get-document-version.ts";
import { importDocuments } from "./import-documents.ts";
import { listDocumentHistory } from "./list-document-history.ts";
import { listDocumentVersions } from "./list-document-versions.ts";
import { fromGatewayItem } from "./messages.ts";
import { listDocuments, type ListDocumentsDeps } from "./list-documents.ts";
import type { ListTransitionsDeps } from "../../domain/transitions/list-transitions.ts";
import { listTransitions } from "./list-transitions.ts";
import { batchTransitionDocuments } from "./batch-transition-documents.ts";
import { transitionDocument, type TransitionDocumentDeps } from "./transition-document.ts";
import { updateDocument } from "./update-document.ts";
import { validateDocument } from "./validate-document.ts";

type DocumentServiceDeps = IntakeDeps &
  UpdateDocumentDeps &
  GetDocumentVersionDeps &
  ListDocumentVersionsDeps &
  ListDocumentHistoryDeps &
  ListDocumentsDeps & { publishing: TransitionDocumentDeps & Pick<ListTransitionsDeps, "publications"> };

export function documentRoute(deps: DocumentServiceDeps): TeamsRoute {
  const methods = route(DocumentService, {
    createDocument: createDocument(deps),
    batchCreateDocuments: batchCreateDocuments(deps),
    importDocuments: importDocuments(deps),
    validateDocument: validateDocument(deps),
    updateDocument: updateDocument(deps),
    listTransitions: listTransitions(deps),
    getDocument: getDocument(deps),
    listDocuments: listDocuments(deps),
    listDocumentVersions: listDocumentVersions(deps),
    getDocumentVersion: getDocumentVersion(deps),
    listDocumentHistory: listDocumentHistory(deps),
    transitionDocument: transitionDocument(deps.publishing),
    batchTransitionDocuments: batchTransitionDocuments(deps.publishing),
  });
  return teamsRoute(methods, {
    createDocument: "write",
    batchCreateDocuments: "write",
    importDocuments: "write",
    validateDocument: "read",
    updateDocument: "write",
    listTransitions: "read",
    getDocument: "read",
    listDocuments: "read",
    listDocumentVersions: "read",
    getDocumentVersion: "read",
    listDocumentHistory: "read",
    transitionDocument: "write",
    batchTransitionDocuments: "write",
  });
}

/** The one method of `DocumentService` that the gateway calls. */
export function batchIntakeRoute(deps: IntakeDeps): MeshRoute {
  const methods = partialRoute(DocumentService, { batchCreateDocuments: batchCreateDocuments(deps, fromGatewayItem) });
  return meshRoute(methods, { batchCreateDocuments: ["gateway"] });
}
