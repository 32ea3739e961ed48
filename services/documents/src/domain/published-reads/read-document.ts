import { matchesEntityTag } from "@vidimus/kit/entity-tags";
import { DomainError } from "@vidimus/kit/errors";
import { joinMembers, type LinkedReader, readLinked } from "./linked-documents.ts";
import { pageEtag } from "./page-etag.ts";
import { isPublishableType } from "./publishable-types.ts";
import type { PublicationState, VisibleDocument } from "./published-document.ts";
import type { SlugReader } from "./resolve-filter.ts";

export interface PublicationReader {
  find(tenantId: string, documentId: string, signal: AbortSignal): Promise<PublicationState | undefined>;
}

export interface LinkedPublicationReader extends PublicationReader, LinkedReader {}

export interface GetPublishedDocumentDeps {
  readonly publications: LinkedPublicationReader;
  readonly slugs: SlugReader;
}

export type DocumentName = { readonly documentId: string } | { readonly type: string; readonly slug: string };

export interface DocumentAnswer {
  readonly documentJson: Uint8Array;
  readonly includedJson: Uint8Array;
  readonly etag: string;
  readonly notModified: boolean;
}

const linksMax = 100;

/**
 * Returns a published document. Throws `gone` when it was withdrawn, `not_found` when it was never
 * published or is of a type that readers may not see.
 */
export async function requireVisible(
  publications: PublicationReader,
  tenantId: string,
  documentId: string,
  signal: AbortSignal,
): Promise<VisibleDocument> {
  const found = await publications.find(tenantId, documentId, signal);
  if (!found || !isPublishableType(found.type)) {
    throw new DomainError("not_found", `there is no published document ${documentId}`);
  }
  if (!isVisible(found)) throw new DomainError("gone", `document ${documentId} was withdrawn`);
  return found;
}

/**
 * Reads one published document by id or by slug, with its linked documents if requested. Throws as
 * `requireVisible` does, and `not_found` for an unknown slug.
 */
export async function readDocument(
  deps: GetPublishedDocumentDeps,
  tenantId: string,
  name: DocumentName,
  request: { readonly includeLinks: boolean; readonly ifNoneMatch: string },
  signal: AbortSignal,
): Promise<DocumentAnswer> {
  const documentId = "slug" in name ? await requireSlug(deps.slugs, tenantId, name) : name.documentId;
  const document = await requireVisible(deps.publications, tenantId, documentId, signal);
  const at = { moment: undefined, signal };
  const included = request.includeLinks
    ? await readLinked(deps.publications, tenantId, [document], linksMax, at)
    : undefined;
  const parts = [document, ...(included ?? [])].map(({ documentId: id, sequence }) => [id, sequence]);
  const etag = pageEtag(document.updatedAt, [included !== undefined, parts]);
  if (matchesEntityTag(request.ifNoneMatch, etag)) {
    return { documentJson: new Uint8Array(), includedJson: new Uint8Array(), etag, notModified: true };
  }
  const includedJson = included ? joinMembers(included) : new Uint8Array();
  return { documentJson: document.bytes, includedJson, etag, notModified: false };
}

async function requireSlug(
  slugs: SlugReader,
  tenantId: string,
  { type, slug }: { type: string; slug: string },
): Promise<string> {
  const documentId = isPublishableType(type) ? await slugs.findDocument(tenantId, type, slug) : undefined;
  if (documentId === undefined) throw new DomainError("not_found", `no ${type} was published under that slug`);
  return documentId;
}

function isVisible(found: PublicationState): found is VisibleDocument {
  return found.bytes !== undefined;
}
