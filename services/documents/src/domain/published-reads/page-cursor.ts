import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { createHash } from "node:crypto";
import type { Moment } from "./tenant-clock.ts";

/** A place in `(updatedAt, documentId)` order. */
export interface PagePosition {
  readonly updatedAt: Date;
  readonly documentId: string;
}

/** Where a walk goes on, and when. */
export interface PageCursor {
  /** The last document of the page before. */
  readonly position: PagePosition;
  /** As of when that page was read: the next one must not show an older state, or the reader loses rows. */
  readonly moment: Moment;
}

/**
 * Names a walk by what it is over, in four bytes: a token of another walk is not taken. Page sizes
 * are no part of it.
 */
export function walkOf(query: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(query)).digest().subarray(0, 4).toString("base64url");
}

/** An opaque token of epoch ms, id, moment in hex and walk; at most 128 characters. */
export function encodeCursor({ position: { updatedAt, documentId }, moment }: PageCursor, walk: string): string {
  return encodeOpaqueToken([updatedAt.getTime(), documentId, moment.toString(16), walk]);
}

/** What a token of this walk names; undefined for anything that `encodeCursor` does not make. */
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
