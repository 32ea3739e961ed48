import type { Actor } from "../document/document.ts";
import { invalidDocument } from "../document/invalid-document.ts";
import { throwMissing } from "../document/throw-missing.ts";
import type { DraftReader } from "../intake/read-draft.ts";
import type { ReadDocument } from "../intake/read-members.ts";
import type { DocumentType } from "../types/document-type.ts";

export interface Edit {
  readonly tenantId: string;
  /** Lowercase UUID. */
  readonly documentId: string;
  /** The whole new document, not a patch. */
  readonly json: Uint8Array;
  /** The version that the caller saw. */
  readonly expectedVersion: number;
  /**
   * Token of the request, by which a repetition gets the first answer; absent when the caller sent
   * none.
   */
  readonly requestToken?: string;
  readonly by: Actor;
  readonly signal?: AbortSignal;
}

/**
 * Reads the new content; refusing faults against its schema is left to the caller. Throws `invalid`
 * when the content is missing, cannot be read or has another type, and `too_large` above 1 MiB.
 */
export async function readContent(
  readDraft: DraftReader,
  type: Pick<DocumentType, "name">,
  { tenantId, documentId, json, signal }: Edit,
): Promise<ReadDocument> {
  if (json.byteLength === 0) throwMissing("document_json");
  const draft = await readDraft(tenantId, json, { as: "edit", documentId, type: type.name }, signal);
  const { document } = draft;
  if (!document) throw invalidDocument(draft.violations);
  if (document.type !== type.name) {
    throw invalidDocument([{ pointer: "/type", message: `a document keeps its type, ${type.name}` }]);
  }
  return document;
}
