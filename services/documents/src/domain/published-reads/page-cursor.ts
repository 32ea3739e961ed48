import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { createHash } from "node:crypto";
import type { Moment } from "./tenant-clock.ts";

/** A position in `(updatedAt, documentId)` order. */
export interface PagePosition {
  readonly updatedAt: Date;
  readonly documentId: string;
}

/** Where the next page of a walk begins, and the earliest moment at which it is read. */
export interface PageCursor {
  /** The last document of the page before. */
  readonly position: PagePosition;
  /**
   * A moment at which the page before was current. The next page must not be read at an earlier
   * one, or the reader would miss rows.
   */
  readonly moment: Moment;
}

/**
 * A digest of a walk's query in four bytes, by which tokens of other walks are refused. The page
 * size is not part of the query.
 */
export function walkOf(query: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(query)).digest().subarray(0, 4).toString("base64url");
}

/** An opaque token of epoch ms, id, moment in hex and walk; at most 128 characters. */
export function encodeCursor({ position: { updatedAt, documentId }, moment }: PageCursor, walk: string): string {
  return encodeOpaqueToken([updatedAt.getTime(), documentId, moment.toString(16), walk]);
}

/** The cursor in a token of this walk; undefined for anything that `encodeCursor` does not make. */
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
