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
 * The version of a document that a transition acts on: the newest, or the one that is or was
 * published.
 */
export type VersionChoice = "head" | "last-published";

export interface TransitionedDocument {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** Sequence of the snapshot that the transition made; 0 when it made none. */
  readonly sequence: number;
  readonly updatedAt: string | null;
}

/**
 * @throws CliError when the document does not exist, or the service refuses the transition or
 * cannot be reached
 */
export async function applyTransition(
  session: Session,
  { id: documentId, name, on }: { readonly id: string; readonly name: string; readonly on: VersionChoice },
): Promise<TransitionedDocument> {
  const tenantId = session.settings.get("tenant");
  using documents = await openService(session, "documents", DocumentService);
  const expectedVersion = await readVersion(documents, tenantId, documentId, on);
  const transition = { documentId, name, expectedVersion };
  return fromProto(
    await documents.call((client, options) => client.transitionDocument({ tenantId, transition }, options)),
  );
}

/**
 * Reads the version that a transition will name. When another version has taken its place by then,
 * through an edit or a publication, the transition fails with ABORTED.
 *
 * @throws CliError when the document does not exist or the call fails
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
 * Returns the newest version of a document that was never published, even for `last-published`; the
 * service refuses a transition that may not start from the status of that version.
 */
function versionOf({ version, lastPublished }: Document, on: VersionChoice): bigint {
  return on === "last-published" && lastPublished ? lastPublished.version : version;
}

export function fromProto(response: TransitionDocumentResponse): TransitionedDocument {
  const { documentId, version, status, sequence, updatedAt } = response;
  return {
    id: documentId,
    version: Number(version),
    status,
    sequence: Number(sequence),
    updatedAt: isoTime(updatedAt),
  };
}

export function transitionTable(transitioned: readonly TransitionedDocument[]): string {
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
