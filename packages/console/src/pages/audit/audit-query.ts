import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { parseUuid } from "@vidimus/kit/ids";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { auditedServices, type AuditedService, auditKinds } from "./audit-kinds.ts";

/** The filters and the position of the audit page, as its URL has them. */
export interface AuditQuery {
  readonly actor: string;
  /** One of `auditKinds`; "" for all. */
  readonly kind: string;
  /** Days such as `2026-11-25`; "" for no bound. */
  readonly from: string;
  readonly to: string;
  readonly position: AuditPosition | undefined;
}

/** Where a page after the first one begins. */
export interface AuditPosition {
  /** Id of the last entry of the page before. */
  readonly after: string;
  /** Number of the first row of the page, from 1. */
  readonly first: number;
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const actorMax = 200;
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
    position: readPosition(text("after"), text("first")),
  };
}

function readPosition(entryId: string, first: string): AuditPosition | undefined {
  const after = parseUuid(entryId);
  return after !== undefined && /^[1-9]\d{0,8}$/.test(first) ? { after, first: Number(first) } : undefined;
}

/** The part of a URL's query that leads to the page at a position. */
export function queryAfter({ after, first }: AuditPosition): Readonly<Record<string, string>> {
  return { after, first: String(first) };
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
  readonly pageToken: string;
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}

/**
 * A request for `rows` entries, and for one more, which tells whether there is another page. The
 * page token of an audit log has the id of the last entry. Ids are UUIDv7, which sort by time, so
 * the id of an entry of one log is also a position in the others.
 */
export function requestFor({ actor, kind, from, to, position }: AuditQuery, rows: number): AuditRequest {
  return {
    actor,
    actions: Object.keys(auditKinds[kind]?.actions ?? {}),
    limit: rows + 1,
    pageToken: position ? encodeOpaqueToken([position.after]) : "",
    ...(from !== "" && { since: timestampFromDate(new Date(from)) }),
    ...(to !== "" && { until: timestampFromDate(new Date(Date.parse(to) + dayMs)) }),
  };
}
