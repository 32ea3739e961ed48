import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { auditedServices, type AuditedService, auditKinds } from "./audit-kinds.ts";

/** The filters of the audit page, as its URL has them. */
export interface AuditQuery {
  readonly actor: string;
  /** One of `auditKinds`; "" for all. */
  readonly kind: string;
  /** Days such as `2026-11-25`; "" for no bound. */
  readonly from: string;
  readonly to: string;
  readonly position: AuditPosition | undefined;
}

/**
 * Position of a page: behind the last entry of the page before. The logs of several services are
 * merged, so the position is the time of that entry, and the ids of the entries of the same
 * millisecond that were shown already.
 */
export interface AuditPosition {
  readonly at: Date;
  readonly shown: readonly string[];
  /** Number of the first row of the page, from 1. */
  readonly first: number;
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const idPattern = /^[0-9a-f-]{36}$/;
const actorMax = 200;
/**
 * Most ids in a position, as many as a page has entries. A position with more ids is ignored, so
 * the list begins anew.
 */
const shownMax = 50;
const dayMs = 86_400_000;

/** Reads the query of a URL; malformed parts are ignored. */
export function readAuditQuery(query: URLSearchParams): AuditQuery {
  const text = (name: string) => query.get(name) ?? "";
  const day = (name: string) =>
    dayPattern.test(text(name)) && !Number.isNaN(Date.parse(text(name))) ? text(name) : "";
  return {
    actor: text("actor").slice(0, actorMax),
    kind: Object.hasOwn(auditKinds, text("kind")) ? text("kind") : "",
    from: day("from"),
    to: day("to"),
    position: readPosition(text("before"), text("shown"), text("first")),
  };
}

function readPosition(before: string, shown: string, first: string): AuditPosition | undefined {
  const ids = shown.split(",").filter((id) => idPattern.test(id));
  if (!/^\d{1,15}$/.test(before) || !/^[1-9]\d{0,8}$/.test(first) || ids.length > shownMax) return undefined;
  return { at: new Date(Number(before)), shown: ids, first: Number(first) };
}

/** The part of a URL's query that leads to the page at a position. */
export function queryAfter(position: AuditPosition): Readonly<Record<string, string>> {
  return { before: String(position.at.getTime()), shown: position.shown.join(","), first: String(position.first) };
}

/** The services whose logs may have entries for a query. */
export function servicesFor({ kind }: AuditQuery): readonly AuditedService[] {
  const known = auditKinds[kind];
  return known ? [known.service] : auditedServices;
}

/** A request for audit entries, the same for each of the services. */
export interface AuditRequest {
  readonly actor: string;
  readonly actions: string[];
  readonly limit: number;
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}

/**
 * A request for `rows` entries, for the entries of the position's millisecond that were shown
 * already, since they come again, and for one more, which tells whether there is another page.
 */
export function requestFor({ actor, kind, from, to, position }: AuditQuery, rows: number): AuditRequest {
  const dayEnd = to === "" ? Number.POSITIVE_INFINITY : Date.parse(to) + dayMs;
  const until = Math.min(dayEnd, position ? position.at.getTime() + 1 : Number.POSITIVE_INFINITY);
  return {
    actor,
    actions: Object.keys(auditKinds[kind]?.actions ?? {}),
    limit: rows + 1 + (position?.shown.length ?? 0),
    ...(from !== "" && { since: timestampFromDate(new Date(from)) }),
    ...(Number.isFinite(until) && { until: timestampFromDate(new Date(until)) }),
  };
}
