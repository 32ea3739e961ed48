import { joinItems } from "./join-items.ts";
import { decodeCursor, encodeCursor, type PagePosition } from "./page-cursor.ts";
import { pageEtag, matchesEtag } from "./page-etag.ts";

/** What a published document is read as: canonical bytes, and where the links stand in them. */
export interface PublishedDocument extends PagePosition {
  readonly bytes: Uint8Array;
  readonly linksStart: number;
  readonly linksEnd: number;
}

/** Which published documents, newest first; ties by id, descending. */
export interface PublishedQuery {
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
export interface PageDeps {
  /** The last tick that touched a type; undefined when none did. */
  stamp(tenantId: string, type: string): Promise<Date | undefined>;
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
  const { type, updatedSince, limit, cursor, ifNoneMatch } = request;
  const stamp = await deps.stamp(tenantId, type);
  const etag = pageEtag(stamp, [type, updatedSince?.getTime() ?? null, limit, cursor]);
  if (matchesEtag(ifNoneMatch, etag)) {
    return { itemsJson: new Uint8Array(), nextCursor: "", hasMore: false, etag, notModified: true };
  }
  const after = decodeCursor(cursor);
  const query = { type, limit, ...(updatedSince ? { updatedSince } : {}), ...(after ? { after } : {}) };
  const { documents, hasMore } = await deps.list(tenantId, query, bytesMax, signal);
  const last = documents.at(-1);
  return {
    itemsJson: joinItems(documents.map(withoutLinks)),
    nextCursor: last ? encodeCursor(last) : "",
    hasMore,
    etag,
    notModified: false,
  };
}

/** The six members the public list shows. */
function withoutLinks({ bytes, linksStart, linksEnd }: PublishedDocument): [Uint8Array, Uint8Array] {
  return [bytes.subarray(0, linksStart), bytes.subarray(linksEnd)];
}
