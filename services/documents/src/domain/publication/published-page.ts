import { joinItems } from "./join-items.ts";
import { decodeCursor, encodeCursor, type PagePosition } from "./page-cursor.ts";
import { matchesEtag, pageEtag } from "./page-etag.ts";
import { type FilterDeps, resolveFilter } from "./resolve-filter.ts";

/** What a published document is read as: canonical bytes, and where the links stand in them. */
export interface PublishedDocument extends PagePosition {
  readonly bytes: Uint8Array;
  readonly linksStart: number;
  readonly linksEnd: number;
}

/** Criteria a document meets all of. */
export interface PublishedFilter {
  /** Id of a linked tag. */
  readonly tag?: string;
  /** Ids and slugs of a site, one of which it names. */
  readonly sites?: readonly string[];
  /** Lowercase. */
  readonly language?: string;
  readonly slug?: string;
}

/** Which published documents, newest first; ties by id, descending. */
export interface PublishedQuery extends PublishedFilter {
  readonly type: string;
  readonly updatedSince?: Date;
  /** The page starts behind this place. */
  readonly after?: PagePosition;
  /** 1 to 200. */
  readonly limit: number;
}

/** What a caller asks for. */
export interface PageRequest {
  readonly type: string;
  readonly updatedSince?: Date;
  readonly limit: number;
  /** "" and whatever was not minted here mean from the top. */
  readonly cursor: string;
  /** "" when the caller holds no page. */
  readonly ifNoneMatch: string;
  /** Criteria as callers write them, "" for none. */
  readonly filter: { readonly tag: string; readonly site: string; readonly language: string; readonly slug: string };
  readonly includeLinks: boolean;
}

/** One page, or word that the caller's still stands. */
export interface Page {
  readonly itemsJson: Uint8Array;
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly etag: string;
  readonly notModified: boolean;
}

/** What reading pages needs. */
export interface PageDeps extends FilterDeps {
  /** The last tick that touched a type, or without a type any; undefined when none did. */
  stamp(tenantId: string, type?: string): Promise<Date | undefined>;
  /** At most `limit` documents, fewer when they hold `bytesMax` bytes (one at least); `hasMore` when there are others. */
  list(
    tenantId: string,
    query: PublishedQuery,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<{ documents: PublishedDocument[]; hasMore: boolean }>;
}

/** Where a page ends, whatever its limit. */
const bytesMax = 4 * 1024 * 1024;

/** A page's tag, if it is one of those that the caller holds. */
export async function standingEtag(
  deps: Pick<PageDeps, "stamp">,
  tenantId: string,
  request: PageRequest,
): Promise<string | undefined> {
  const etag = await currentEtag(deps, tenantId, request);
  return matchesEtag(request.ifNoneMatch, etag) ? etag : undefined;
}

async function currentEtag(deps: Pick<PageDeps, "stamp">, tenantId: string, request: PageRequest): Promise<string> {
  const { type, updatedSince, limit, cursor, filter, includeLinks } = request;
  // Which documents a tag's or a site's slug stands for changes with the tag or the site.
  const stamp = await deps.stamp(tenantId, ...(filter.tag || filter.site ? [] : [type]));
  return pageEtag(stamp, [type, updatedSince?.getTime() ?? null, limit, cursor, filter, includeLinks]);
}

/**
 * Reads one page. The stamp is read before the documents: what is published in between makes the tag older than the
 * page, and the next conditional read reads again; the other way round it would be missed.
 */
export async function readPage(
  deps: PageDeps,
  tenantId: string,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page> {
  const { type, updatedSince, limit, cursor, ifNoneMatch, filter, includeLinks } = request;
  const etag = await currentEtag(deps, tenantId, request);
  if (matchesEtag(ifNoneMatch, etag)) return { ...emptyPage, etag, notModified: true };
  const criteria = await resolveFilter(deps, tenantId, filter);
  if (!criteria) return { ...emptyPage, itemsJson: joinItems([]), etag };
  const after = decodeCursor(cursor);
  const query = { ...criteria, type, limit, ...(updatedSince ? { updatedSince } : {}), ...(after ? { after } : {}) };
  const { documents, hasMore } = await deps.list(tenantId, query, bytesMax, signal);
  const last = documents.at(-1);
  return {
    itemsJson: joinItems(documents.map(includeLinks ? whole : withoutLinks)),
    nextCursor: last ? encodeCursor(last) : "",
    hasMore,
    etag,
    notModified: false,
  };
}

const emptyPage = { itemsJson: new Uint8Array(), nextCursor: "", hasMore: false, notModified: false };

function whole({ bytes }: PublishedDocument): Uint8Array[] {
  return [bytes];
}

/** The six members the public list shows. */
function withoutLinks({ bytes, linksStart, linksEnd }: PublishedDocument): Uint8Array[] {
  return [bytes.subarray(0, linksStart), bytes.subarray(linksEnd)];
}
