import { joinItems } from "./join-items.ts";
import { decodeCursor, encodeCursor, type PagePosition } from "./page-cursor.ts";
import { matchesEtag, pageEtag } from "./page-etag.ts";
import {
  type FilterDeps,
  type PublishedFilter,
  type RequestedFilter,
  resolveFilter,
  typesConsulted,
} from "./resolve-filter.ts";
import { type ClockReader, type ClockReading, lastTouched, type ReadAt } from "./tenant-clock.ts";

/** What a published document is read as: canonical bytes, and where the links stand in them. */
export interface PublishedDocument extends PagePosition {
  readonly bytes: Uint8Array;
  readonly linksStart: number;
  readonly linksEnd: number;
}

/** Which published documents, newest first; ties by id, descending. */
export interface PublishedQuery {
  readonly type: string;
  readonly filter: PublishedFilter;
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
  /** "" and anything that is no cursor start with the newest. */
  readonly cursor: string;
  /** "" when the caller has no page. */
  readonly ifNoneMatch: string;
  readonly filter: RequestedFilter;
  readonly includeLinks: boolean;
}

/** One page; empty when `notModified`. */
export interface Page {
  readonly itemsJson: Uint8Array;
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly etag: string;
  readonly notModified: boolean;
}

/** Stores that pages are read from. */
export interface ListPublishedDocumentsDeps extends FilterDeps {
  readonly clocks: ClockReader;
  readonly publications: FilterDeps["publications"] & {
    /**
     * At most `limit` documents, fewer when they hold `bytesMax` bytes (one at least); `hasMore`
     * when there are others.
     */
    list(
      tenantId: string,
      query: PublishedQuery,
      bytesMax: number,
      at: ReadAt,
    ): Promise<{ documents: PublishedDocument[]; hasMore: boolean }>;
  };
}

/** Most bytes of documents on a page. */
const bytesMax = 4 * 1024 * 1024;

/** The page's tag, if `ifNoneMatch` names it; else undefined. */
export async function currentEtag(
  deps: Pick<ListPublishedDocumentsDeps, "clocks">,
  tenantId: string,
  request: PageRequest,
): Promise<string | undefined> {
  const etag = etagAt(lastTick(await deps.clocks.read(tenantId), request), request);
  return matchesEtag(request.ifNoneMatch, etag) ? etag : undefined;
}

/** The last tick that changed what the page may show, as far as a reading of the clock knows. */
function lastTick(clock: ClockReading, { type, filter }: PageRequest): Date | undefined {
  return lastTouched(clock, [type, ...typesConsulted(filter)]);
}

function etagAt(stamp: Date | undefined, request: PageRequest): string {
  const { type, updatedSince, limit, cursor, filter, includeLinks } = request;
  return pageEtag(stamp, [type, updatedSince?.getTime() ?? null, limit, cursor, filter, includeLinks]);
}

/**
 * Reads one page. The clock is read before the documents: a publication in between makes the tag
 * older than the page, so that the next conditional read gets the page again. In the other order
 * that publication would be missed. The documents are read at the clock's moment, so that a
 * failover between the two reads cannot reverse their order.
 *
 * A reader without a tag gets the page at the reading that this process remembers, one read less.
 * When it is out of date the tag is too old, which costs the reader one more page.
 */
export async function readPublishedPage(
  deps: ListPublishedDocumentsDeps,
  tenantId: string,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page> {
  const { type, updatedSince, limit, cursor, ifNoneMatch, filter, includeLinks } = request;
  const remembered = ifNoneMatch === "" ? deps.clocks.recall(tenantId) : undefined;
  const clock = remembered ?? (await deps.clocks.read(tenantId));
  const { moment } = clock;
  const stamp = lastTick(clock, request);
  const etag = etagAt(stamp, request);
  if (matchesEtag(ifNoneMatch, etag)) return { ...emptyPage, etag, notModified: true };
  const resolved = await resolveFilter(deps, tenantId, filter, moment);
  if (!resolved) return { ...emptyPage, itemsJson: joinItems([]), etag };
  const after = decodeCursor(cursor);
  const query = {
    type,
    filter: resolved,
    limit,
    ...(updatedSince ? { updatedSince } : {}),
    ...(after ? { after } : {}),
  };
  const { documents, hasMore } = await deps.publications.list(tenantId, query, bytesMax, { moment, signal });
  const last = documents.at(-1);
  return {
    itemsJson: joinItems(documents.map(includeLinks ? whole : withoutLinks)),
    nextCursor: last ? encodeCursor(last) : "",
    hasMore,
    etag: etagAt(shownTick(stamp, request, documents), request),
    notModified: false,
  };
}

/**
 * A page that shows a document shows everything up to the tick of that document. Not a page for
 * which a slug was looked up first: that may have passed to another document in between.
 */
function shownTick(
  stamp: Date | undefined,
  { filter }: PageRequest,
  documents: readonly PublishedDocument[],
): Date | undefined {
  if (typesConsulted(filter).length > 0) return stamp;
  const ticks = [...(stamp ? [stamp] : []), ...documents.map(({ updatedAt }) => updatedAt)];
  return ticks.length === 0 ? undefined : new Date(Math.max(...ticks.map((tick) => tick.getTime())));
}

const emptyPage = { itemsJson: new Uint8Array(), nextCursor: "", hasMore: false, notModified: false };

function whole({ bytes }: PublishedDocument): Uint8Array[] {
  return [bytes];
}

/** The six members that the public list shows. */
function withoutLinks({ bytes, linksStart, linksEnd }: PublishedDocument): Uint8Array[] {
  return [bytes.subarray(0, linksStart), bytes.subarray(linksEnd)];
}
