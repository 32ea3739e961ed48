import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { createHash } from "node:crypto";
import type { Moment } from "./tenant-clock.ts";

/** A position in `(updatedAt, documentId)` order. */
export interface PagePosition {
  readonly updatedAt: Date;
  readonly documentId: string;
}

/** Where the next page of a walk begins. */
export interface PageCursor {
  /** The last document of the page before. */
  readonly position: PagePosition;
  /**
   * A moment at which the page before was current. A next page of an earlier moment could lack
   * documents that were published in between.
   */
  readonly moment: Moment;
}

/**
 * Four bytes of a digest of a walk's query, by which tokens of other walks are refused. Callers
 * leave the page size out of the query, so that it may change from page to page.
 */
export function walkOf(query: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(query)).digest().subarray(0, 4).toString("base64url");
}

/** An opaque token of at most 128 characters. */
export function encodeCursor({ position: { updatedAt, documentId }, moment }: PageCursor, walk: string): string {
  return encodeOpaqueToken([updatedAt.getTime(), documentId, moment.toString(16), walk]);
}

/** Undefined for a token of another walk, and for one that `encodeCursor` does not make. */
export function decodeCursor(token: string, walk: string): PageCursor | undefined {
  const [time, id, moment, named, ...more] = decodeOpaqueToken(token) ?? [];
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || !isMoment(moment)) return undefined;
  if (named !== walk || more.length > 0) return undefined;
  return { position: { updatedAt: new Date(time), documentId }, moment: BigInt(`0x${moment}`) };
}

function isMoment(value: string | number | undefined): value is string {
  return typeof value === "string" && /^(?:0|[1-9a-f][\da-f]{0,15})$/.test(value);
}
