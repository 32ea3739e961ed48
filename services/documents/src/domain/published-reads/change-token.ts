import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { type PagePosition, walkOf } from "./page-cursor.ts";

/** A reader's position in a tenant's changes. */
export interface ChangeToken {
  /** The last position up to which the reader knows every change. */
  readonly after: PagePosition;
  /**
   * The tick at which the reader began. Removals up to it are left out, because the reader never
   * got those documents. The epoch when nothing had been published yet.
   */
  readonly began: Date;
}

/** The position before every change. */
export const beginning: PagePosition = {
  updatedAt: new Date(0),
  documentId: "00000000-0000-0000-0000-000000000000",
};

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The position behind every change of a tick; `beginning` without a tick. */
export function endOf(tick: Date | undefined): PagePosition {
  return tick ? { updatedAt: tick, documentId: lastId } : beginning;
}

export function isBefore(one: PagePosition, other: PagePosition): boolean {
  const ms = one.updatedAt.getTime() - other.updatedAt.getTime();
  return ms < 0 || (ms === 0 && one.documentId < other.documentId);
}

export function later({ updatedAt, documentId }: PagePosition, other: PagePosition): PagePosition {
  return isBefore({ updatedAt, documentId }, other) ? other : { updatedAt, documentId };
}

export function encodeChangeToken({ after, began }: ChangeToken, type: string): string {
  return encodeOpaqueToken([after.updatedAt.getTime(), after.documentId, began.getTime(), walkOf(["changes", type])]);
}

/**
 * Refuses a token that was not made here for this type: starting over would hide removals from the
 * reader, and reading on from another type's token would skip changes of this type that the reader
 * never got.
 *
 * @throws DomainError `invalid` for such a token
 */
export function decodeChangeToken(token: string, type: string): ChangeToken {
  const [time, id, began, walk, ...more] = decodeOpaqueToken(token) ?? [];
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  const isOfWalk = walk === walkOf(["changes", type]) && more.length === 0;
  if (documentId === undefined || !isEpochMs(time) || !isEpochMs(began) || !isOfWalk) {
    throw new DomainError("invalid", "since must be a token that an earlier answer gave for the same type");
  }
  return { after: { updatedAt: new Date(time), documentId }, began: new Date(began) };
}
