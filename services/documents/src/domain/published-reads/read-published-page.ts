import { matchesEntityTag } from "@vidimus/kit/entity-tags";
import { DomainError } from "@vidimus/kit/errors";
import { joinItems } from "./join-items.ts";
import { joinMembers, type LinkedReader, readLinked } from "./linked-documents.ts";
import { decodeCursor, encodeCursor, type PageCursor, type PagePosition, walkOf } from "./page-cursor.ts";
import { newestStamp, pageEtag } from "./page-etag.ts";
import { publishableTypes } from "./publishable-types.ts";
import type { PublishedDocument } from "./published-document.ts";
import {
  type FilterDeps,
  type PublishedFilter,
  type RequestedFilter,
  resolveFilter,
  typesConsulted,
} from "./resolve-filter.ts";
import {
  type ClockReader,
  type ClockReading,
  lastTouched,
  type Moment,
  MomentAhead,
  type ReadAt,
} from "./tenant-clock.ts";

/** Which published documents are listed, newest first; ties by id, descending. */
export interface PublishedQuery {
  readonly type: string;
  readonly filter: PublishedFilter;
  readonly updatedSince?: Date;
  /** The page starts behind this position. */
  readonly after?: PagePosition;
  /** 1 to 200. */
  readonly limit: number;
}

export interface PageRequest {
  readonly type: string;
  readonly updatedSince?: Date;
  readonly limit: number;
  /** "" starts with the newest document. */
  readonly cursor: string;
  /**
   * Whether a malformed cursor, one of another walk, and one ahead of the database's clock are
   * refused. Otherwise the page starts with the newest document.
   */
  readonly refuseForeignCursor: boolean;
  /** "" for an unconditional request. */
  readonly ifNoneMatch: string;
  /** A tag that the caller got for this page; the answer is not older than the tag. "" for none. */
  readonly knownTag: string;
  readonly filter: RequestedFilter;
  readonly includeLinks: boolean;
  /** Whether documents that the page's documents link to are included. */
  readonly includeLinked: boolean;
}

export interface Page {
  readonly itemsJson: Uint8Array;
  /** Empty when linked documents were not requested, and when the page is not modified. */
  readonly includedJson: Uint8Array;
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly etag: string;
  readonly notModified: boolean;
}

export interface ListPublishedDocumentsDeps extends FilterDeps {
  readonly clocks: ClockReader;
  readonly publications: FilterDeps["publications"] &
    LinkedReader & {
      /**
       * At most `limit` documents, fewer when more would exceed `bytesMax` bytes, but at least one;
       * `hasMore` when there are others. The returned `moment` is that of the read.
       *
       * @throws MomentAhead when `at.moment` is ahead of the database's clock
       */
      list(
        tenantId: string,
        query: PublishedQuery,
        bytesMax: number,
        at: ReadAt,
      ): Promise<{ documents: PublishedDocument[]; hasMore: boolean; moment: Moment }>;
    };
}

/** Most bytes of documents on a page. */
const bytesMax = 4 * 1024 * 1024;
/** Most linked documents of a page. */
const linkedMax = 400;

/** The page's current tag when `ifNoneMatch` contains it; else undefined. */
export async function currentEtag(
  deps: Pick<ListPublishedDocumentsDeps, "clocks">,
  tenantId: string,
  request: PageRequest,
): Promise<string | undefined> {
  const clock = await readClock(deps.clocks, tenantId, request);
  const etag = etagAt(lastTick(clock, request), request);
  return matchesEntityTag(request.ifNoneMatch, etag) ? etag : undefined;
}

/**
 * Reads the clock, not older than what the caller has seen. A caller that sends no tag gets the
 * reading that this process remembers, which saves a read. When the remembered reading is outdated,
 * the page's tag may be too old, and the caller's next conditional read then gets the page again.
 */
async function readClock(clocks: ClockReader, tenantId: string, request: PageRequest): Promise<ClockReading> {
  const hasSeen = request.ifNoneMatch !== "" || request.knownTag !== "";
  const remembered = hasSeen ? undefined : clocks.recall(tenantId);
  const clock = remembered ?? (await clocks.read(tenantId));
  return isBehind(clock, request) ? clocks.confirm(tenantId) : clock;
}

/** Whether the caller has seen a newer tick than the reading's. */
function isBehind(clock: ClockReading, request: PageRequest): boolean {
  const { updatedSince, ifNoneMatch, knownTag } = request;
  const isAfter = (seen: Date | undefined, tick: Date | undefined) => {
    return seen !== undefined && seen.getTime() > (tick?.getTime() ?? 0);
  };
  const stamp = lastTick(clock, request);
  const query = etagInputs(request);
  return (
    isAfter(updatedSince, clock.tick) ||
    [ifNoneMatch, knownTag].some((tags) => isAfter(newestStamp(tags, query), stamp))
  );
}

/** The last tick in the reading that changed what the page may show. */
function lastTick(clock: ClockReading, { type, filter, includeLinked }: PageRequest): Date | undefined {
  return lastTouched(clock, includeLinked ? publishableTypes : [type, ...typesConsulted(filter)]);
}

/** What a page's tag depends on besides the tick. */
function etagInputs(request: PageRequest): readonly unknown[] {
  const { type, updatedSince, limit, cursor, filter, includeLinks, includeLinked } = request;
  const plain = [type, updatedSince?.getTime() ?? null, limit, cursor, filter, includeLinks];
  return includeLinked ? [...plain, "linked"] : plain;
}

function etagAt(stamp: Date | undefined, request: PageRequest): string {
  return pageEtag(stamp, etagInputs(request));
}

/**
 * The clock is read before the documents: a change in between can make the tag older than the page,
 * but never newer, so at worst the next conditional read gets the page again. In the other order
 * that change would be missed. The documents are read with the later of the clock's moment and that
 * of the page before, because after a failover a read without a moment may return an older state.
 *
 * @throws DomainError `invalid` for a foreign cursor, when those are refused
 */
export async function readPublishedPage(
  deps: ListPublishedDocumentsDeps,
  tenantId: string,
  request: PageRequest,
  signal: AbortSignal,
): Promise<Page> {
  const clock = await readClock(deps.clocks, tenantId, request);
  const etag = etagAt(lastTick(clock, request), request);
  if (matchesEntityTag(request.ifNoneMatch, etag)) return { ...emptyPage, etag, notModified: true };
  const cursor = readCursor(request);
  try {
    return await readFrom(deps, tenantId, { request, clock, cursor }, signal);
  } catch (error) {
    if (!(error instanceof MomentAhead)) throw error;
    // The cursor's moment is ahead of the database's clock, so this database did not make it.
    if (request.refuseForeignCursor) throw foreignCursor();
    return readFrom(deps, tenantId, { request, clock, cursor: undefined }, signal);
  }
}

/**
 * The cursor; undefined to start with the newest document.
 *
 * @throws DomainError `invalid` for a foreign cursor, when the request refuses those
 */
function readCursor(request: PageRequest): PageCursor | undefined {
  if (request.cursor === "") return undefined;
  const cursor = decodeCursor(request.cursor, walkOfRequest(request));
  if (!cursor && request.refuseForeignCursor) throw foreignCursor();
  return cursor;
}

function walkOfRequest({ type, filter, updatedSince }: PageRequest): string {
  return walkOf([type, filter, updatedSince?.getTime() ?? null]);
}

function foreignCursor(): DomainError {
  return new DomainError("invalid", "cursor must be the nextCursor of a page of the same collection and filters");
}

interface PageStart {
  readonly request: PageRequest;
  readonly clock: ClockReading;
  readonly cursor: PageCursor | undefined;
}

async function readFrom(
  deps: ListPublishedDocumentsDeps,
  tenantId: string,
  { request, clock, cursor }: PageStart,
  signal: AbortSignal,
): Promise<Page> {
  const { type, updatedSince, limit, includeLinks, includeLinked } = request;
  const stamp = lastTick(clock, request);
  const moment = laterMoment(clock.moment, cursor?.moment);
  const filter = await resolveFilter(deps, tenantId, request.filter, moment);
  if (!filter) {
    const includedJson = includeLinked ? joinMembers([]) : empty;
    return { ...emptyPage, itemsJson: joinItems([]), includedJson, etag: etagAt(stamp, request) };
  }
  const after = cursor && { after: cursor.position };
  const query = { type, filter, limit, ...(updatedSince ? { updatedSince } : {}), ...after };
  const page = await deps.publications.list(tenantId, query, bytesMax, { moment, signal });
  const { documents, hasMore } = page;
  const last = documents.at(-1);
  const linked = includeLinked
    ? await readLinked(deps.publications, tenantId, documents, linkedMax, { moment: page.moment, signal })
    : [];
  return {
    includedJson: includeLinked ? joinMembers(linked) : empty,
    itemsJson: joinItems(documents.map(includeLinks ? whole : withoutLinks)),
    nextCursor: last
      ? encodeCursor({ position: last, moment: shownMoment(page, clock, moment) }, walkOfRequest(request))
      : "",
    hasMore,
    etag: etagAt(shownTick(stamp, request, documents), request),
    notModified: false,
  };
}

/**
 * The earliest moment for the next page. Usually this is the moment of the clock's reading, which
 * stays the same until the next publication: equal pages then have equal cursors, so readers share
 * the next page in caches, too. When the page shows a publication that is later than the clock's
 * reading, the page's own moment is taken.
 */
function shownMoment(
  { documents, moment: own }: { documents: readonly PublishedDocument[]; moment: Moment },
  { tick }: ClockReading,
  asked: Moment | undefined,
): Moment {
  const isNewer = documents.some(({ updatedAt }) => updatedAt.getTime() > (tick?.getTime() ?? 0));
  return isNewer ? own : (asked ?? own);
}

function laterMoment(one: Moment | undefined, other: Moment | undefined): Moment | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

/**
 * The tick for a page's tag: that of the page's newest document if it is later than `stamp`. It
 * stays `stamp` when a slug was looked up before the page, because the slug may have passed to
 * another document in between, and when linked documents are included, because they are read after
 * the page and may have changed in between.
 */
function shownTick(
  stamp: Date | undefined,
  { filter, includeLinked }: PageRequest,
  documents: readonly PublishedDocument[],
): Date | undefined {
  if (includeLinked || typesConsulted(filter).length > 0) return stamp;
  const ticks = [...(stamp ? [stamp] : []), ...documents.map(({ updatedAt }) => updatedAt)];
  return ticks.length === 0 ? undefined : new Date(Math.max(...ticks.map((tick) => tick.getTime())));
}

const empty = new Uint8Array();
const emptyPage = { itemsJson: empty, includedJson: empty, nextCursor: "", hasMore: false, notModified: false };

function whole({ bytes }: PublishedDocument): Uint8Array[] {
  return [bytes];
}

/** The document without `links`, as the public list shows it. */
function withoutLinks({ bytes, linksStart, linksEnd }: PublishedDocument): Uint8Array[] {
  return [bytes.subarray(0, linksStart), bytes.subarray(linksEnd)];
}
