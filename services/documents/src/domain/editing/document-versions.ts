import { DomainError } from "@vidimus/kit/errors";
import type { Head } from "../document/document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import { titleText } from "../document/title-text.ts";
import type { DocumentVersion, VersionSummary } from "../document/revision.ts";

/** Names one document. */
interface Reference {
  tenantId: string;
  documentId: string;
}

/** What reading versions needs. */
export interface VersionDeps {
  documents: HeadReader;
  revisions: {
    /** Versions that are no longer the head, newest first. */
    listVersions(
      tenantId: string,
      documentId: string,
      page: { limit: number; before: number; signal?: AbortSignal },
    ): Promise<VersionSummary[]>;
    /** One version that is no longer the head. */
    findVersion(
      tenantId: string,
      documentId: string,
      version: number,
      options?: { signal?: AbortSignal },
    ): Promise<DocumentVersion | undefined>;
  };
}

/** A page of a document's versions, newest first, the head among them. Throws `not_found`. */
export async function listVersions(
  { documents, revisions }: VersionDeps,
  { tenantId, documentId }: Reference,
  { limit, before, ...options }: { limit: number; before?: number; signal?: AbortSignal },
): Promise<{ versions: VersionSummary[]; hasMore: boolean }> {
  const head = await requireHead(documents, tenantId, documentId, options);
  const withHead = before === undefined || before > head.version;
  // Bounded by the head that was read, so that an edit in between shows no version twice.
  const below = withHead ? head.version : before;
  const older = await revisions.listVersions(tenantId, documentId, { ...options, limit: limit + 1, before: below });
  const all = [...(withHead ? [headSummary(head)] : []), ...older.map((version) => asItStands(version, head))];
  return { versions: all.slice(0, limit), hasMore: all.length > limit };
}

/** One version of a document with its content, and the document's type. Throws `not_found`. */
export async function getVersion(
  { documents, revisions }: VersionDeps,
  { tenantId, documentId }: Reference,
  version: number,
  options: { signal?: AbortSignal } = {},
): Promise<{ version: DocumentVersion; type: string }> {
  // Two reads: an edit in between moves the version from the first to the second.
  const head = await requireHead(documents, tenantId, documentId, options);
  if (version === head.version) return { version: headVersion(head), type: head.type };
  const found = await revisions.findVersion(tenantId, documentId, version, options);
  if (!found) throw new DomainError("not_found", `document ${documentId} has no version ${version}`);
  return { version: asItStands(found, head), type: head.type };
}

function headVersion(head: Head): DocumentVersion {
  const { version, status, schemaGeneration, content, links, meta, title, changedBy } = head;
  const parts = { content, links, meta, title };
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
  const { content: _c, links: _l, meta: _m, title, ...summary } = headVersion(head);
  return { ...summary, title: titleText(title) };
}

/** A live version goes on moving after it was kept. */
function asItStands<V extends VersionSummary | DocumentVersion>(version: V, { live }: Head): V {
  return live?.version === version.version ? { ...version, status: live.status } : version;
}
