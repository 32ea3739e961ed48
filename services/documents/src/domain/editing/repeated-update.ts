import { DomainError } from "@vidimus/kit/errors";
import { type Head, initialStatus, type LastPublished } from "../document/document.ts";
import { requestTokenReused } from "../document/request-token.ts";
import type { HistoryEntry } from "../document/revision.ts";
import type { DraftReader } from "../intake/read-draft.ts";
import { digestParts } from "../intake/read-members.ts";
import { type GetDocumentVersionDeps, getVersion } from "./document-versions.ts";
import { type Edit, readContent } from "./edit.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";

/**
 * The history entry of an update or transition with a request token; that of an update also has the
 * last published version at that time, if there was one.
 */
export interface NamedEntry extends HistoryEntry {
  readonly lastPublished?: LastPublished;
}

export interface FirstAnswerDeps {
  documents: HeadReader;
  revisions: GetDocumentVersionDeps["revisions"];
  history: {
    findRequest(tenantId: string, documentId: string, requestToken: string): Promise<NamedEntry | undefined>;
  };
  readDraft: DraftReader;
}

/**
 * The head as the first request with the same token left it; undefined when the edit has no token,
 * or no request of the document had that token.
 *
 * @throws DomainError `invalid` with reason `request_token_reused` when the first request with the
 * token was a different one
 */
export async function findFirstAnswer(deps: FirstAnswerDeps, edit: Edit): Promise<Head | undefined> {
  const { tenantId, documentId, requestToken } = edit;
  if (requestToken === undefined) return undefined;
  const entry = await deps.history.findRequest(tenantId, documentId, requestToken);
  if (!entry) return undefined;
  const isUpdate = entry.transition === undefined && entry.version === edit.expectedVersion + 1;
  if (!isUpdate) throw requestTokenReused();
  const { lastPublished: _, titleRich: _later, ...head } = await requireHead(deps.documents, tenantId, documentId);
  const { version: written } = await getVersion(deps, { tenantId, documentId }, entry.version);
  if (!(await hasContent(deps.readDraft, head.type, digestParts(head.type, written), edit))) {
    throw requestTokenReused();
  }
  const { at, by, version, lastPublished } = entry;
  const state = { version, status: initialStatus, changedAt: at, changedBy: by, writtenAt: at };
  return { ...head, ...written, ...state, ...(lastPublished ? { lastPublished } : {}) };
}

async function hasContent(readDraft: DraftReader, type: string, digest: Buffer, edit: Edit): Promise<boolean> {
  try {
    return digest.equals((await readContent(readDraft, { name: type }, edit)).digest);
  } catch (error) {
    // Content that cannot be read is not the first request's.
    if (error instanceof DomainError && error.kind === "invalid") return false;
    throw error;
  }
}
