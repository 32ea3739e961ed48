import { parseUuid } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";

/** A place in `(updatedAt, documentId)` order. */
export interface PagePosition {
  readonly updatedAt: Date;
  readonly documentId: string;
}

/** An opaque token for a place: of epoch ms and id. */
export function encodeCursor({ updatedAt, documentId }: PagePosition): string {
  return encodeOpaqueToken([updatedAt.getTime(), documentId]);
}

/** The place a token names; undefined for anything that `encodeCursor` does not make. */
export function decodeCursor(token: string): PagePosition | undefined {
  const [time, id, ...more] = decodeOpaqueToken(token) ?? [];
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || more.length > 0) return undefined;
  return { updatedAt: new Date(time), documentId };
}
