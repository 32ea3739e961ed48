import {
  type Document,
  DocumentService,
  type TransitionDocumentResponse,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { isoTime } from "../rpc/iso-time.ts";
import { openService, type ServiceCaller } from "../rpc/open-service.ts";
import type { Session } from "../session.ts";
import { table } from "../terminal/table.ts";
import { readDocument } from "./read-document.ts";

/**
 * Which version of a document a transition is about: the newest, or the one that is or was
 * published.
 */
export type VersionChoice = "head" | "last-published";

/** Where a document stands after its transition. */
export interface Transitioned {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** Of the snapshot that was made; 0 when none was. */
  readonly sequence: number;
  readonly updatedAt: string | null;
}

/** Applies a transition to one document. @throws CliError when the service refuses it */
export async function applyTransition(
  session: Session,
  { id: documentId, name, on }: { readonly id: string; readonly name: string; readonly on: VersionChoice },
): Promise<Transitioned> {
  const tenantId = session.settings.get("tenant");
  using documents = await openService(session, "documents", DocumentService);
  const expectedVersion = await readVersion(documents, tenantId, documentId, on);
  const transition = { documentId, name, expectedVersion };
  return fromProto(
    await documents.call((client, options) => client.transitionDocument({ tenantId, transition }, options)),
  );
}

/**
 * Reads which version a transition will name: an edit between the two calls fails the transition
 * with ABORTED.
 *
 * @throws CliError when the document does not exist or the service cannot be reached
 */
export async function readVersion(
  documents: ServiceCaller<typeof DocumentService>,
  tenantId: string,
  documentId: string,
  on: VersionChoice,
): Promise<bigint> {
  return versionOf(await readDocument(documents, tenantId, documentId), on);
}

/**
 * Of a document that was never published the newest version: the service refuses the transition.
 */
function versionOf({ version, lastPublished }: Document, on: VersionChoice): bigint {
  return on === "last-published" && lastPublished ? lastPublished.version : version;
}

export function fromProto(response: TransitionDocumentResponse): Transitioned {
  const { documentId, version, status, sequence, updatedAt } = response;
  return {
    id: documentId,
    version: Number(version),
    status,
    sequence: Number(sequence),
    updatedAt: isoTime(updatedAt),
  };
}

/** A table of transitioned documents. */
export function transitionTable(transitioned: readonly Transitioned[]): string {
  return table(
    ["id", "version", "status", "snapshot", "updated"],
    transitioned.map(({ id, version, status, sequence, updatedAt }) => [
      id,
      String(version),
      status,
      String(sequence || "-"),
      updatedAt ?? "-",
    ]),
  );
}
