import { parseUuid } from "@vidimus/kit/uuid";

/** A place in `(updatedAt, documentId)` order. */
export interface PagePosition {
  readonly updatedAt: Date;
  readonly documentId: string;
}

/** Longest cursor that is looked at; those we make have about 80 characters. */
const charactersMax = 128;
const latest = 8.64e15;

/** An opaque token for a place: unsigned base64url of `[1, epoch ms, id]`. It repeats only what its reader has seen. */
export function encodeCursor({ updatedAt, documentId }: PagePosition): string {
  return Buffer.from(JSON.stringify([1, updatedAt.getTime(), documentId])).toString("base64url");
}

/** The place a token names; undefined for anything that `encodeCursor` does not make. */
export function decodeCursor(token: string): PagePosition | undefined {
  if (token.length > charactersMax) return undefined;
  const value = parse(Buffer.from(token, "base64url").toString());
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [version, time, id]: unknown[] = value;
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (version !== 1 || documentId === undefined || typeof time !== "number") return undefined;
  if (!Number.isInteger(time) || Math.abs(time) > latest) return undefined;
  const position = { updatedAt: new Date(time), documentId };
  return encodeCursor(position) === token ? position : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
