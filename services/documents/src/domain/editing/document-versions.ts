import { DomainError } from "@vidimus/kit/errors";
import type { Head } from "../document/document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import { titleText } from "../document/title-text.ts";
import type { DocumentVersion, VersionSummary } from "../document/revision.ts";

interface Reference {
  tenantId: string;
  documentId: string;
}

export interface ListDocumentVersionsDeps {
  documents: HeadReader;
  revisions: {
    /** Versions other than the head, newest first. */
    listVersions(
      tenantId: string,
      documentId: string,
      page: { limit: number; before: number; signal?: AbortSignal },
    ): Promise<VersionSummary[]>;
  };
}

export interface GetDocumentVersionDeps {
  documents: HeadReader;
  revisions: {
    /** One version other than the head. */
    findVersion(
      tenantId: string,
      documentId: string,
      version: number,
      options?: { signal?: AbortSignal },
    ): Promise<DocumentVersion | undefined>;
  };
}

/**
 * A page of a document's versions including the head, newest first. Throws `not_found` when the
 * document does not exist.
 */
export async function listVersions(
  { documents, revisions }: ListDocumentVersionsDeps,
  { tenantId, documentId }: Reference,
  { limit, before, ...options }: { limit: number; before?: number; signal?: AbortSignal },
): Promise<{ versions: VersionSummary[]; hasMore: boolean }> {
  const head = await requireHead(documents, tenantId, documentId, options);
  const withHead = before === undefined || before > head.version;
  // Lists only versions below the head that was read. Otherwise an edit between the two reads,
  // which makes that head one of the older versions, would list it twice.
  const below = withHead ? head.version : before;
  const older = await revisions.listVersions(tenantId, documentId, { ...options, limit: limit + 1, before: below });
  const all = [...(withHead ? [headSummary(head)] : []), ...older.map((version) => withCurrentStatus(version, head))];
  return { versions: all.slice(0, limit), hasMore: all.length > limit };
}

/**
 * One version of a document with its content, and the document's type. Throws `not_found` when the
 * document or the version does not exist.
 */
export async function getVersion(
  { documents, revisions }: GetDocumentVersionDeps,
  { tenantId, documentId }: Reference,
  version: number,
  options: { signal?: AbortSignal } = {},
): Promise<{ version: DocumentVersion; type: string }> {
  // The head is read first. In the other order an edit between the two reads could turn the wanted
  // version from the head into an older one, and neither read would find it.
  const head = await requireHead(documents, tenantId, documentId, options);
  if (version === head.version) return { version: headVersion(head), type: head.type };
  const found = await revisions.findVersion(tenantId, documentId, version, options);
  if (!found) throw new DomainError("not_found", `document ${documentId} has no version ${version}`);
  return { version: withCurrentStatus(found, head), type: head.type };
}

function headVersion(head: Head): DocumentVersion {
  const { version, status, schemaGeneration, content, links, meta, title, titleRich, changedBy } = head;
  const parts = { content, links, meta, title, ...(titleRich ? { titleRich } : {}) };
  return {
    ...parts,
    version,
    status,
    schemaGeneration,
    writtenAt: head.writtenAt ?? head.createdAt,
    writtenBy: changedBy,
  };
}

function headSummary(head: Head): VersionSummary {
  const { content: _c, links: _l, meta: _m, titleRich: _r, title, ...summary } = headVersion(head);
  return { ...summary, title: titleText(title) };
}

/**
 * The state of the last published version is kept in the head, because transitions may change that
 * state after newer versions were written.
 */
function withCurrentStatus<V extends VersionSummary | DocumentVersion>(version: V, { lastPublished }: Head): V {
  return lastPublished?.version === version.version ? { ...version, status: lastPublished.status } : version;
}
