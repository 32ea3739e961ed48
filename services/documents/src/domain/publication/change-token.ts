import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/uuid";
import type { PagePosition } from "./page-cursor.ts";

/** How far a reader of changes has come. */
export interface ChangeToken {
  /** The last change the reader was told of. */
  readonly after: PagePosition;
  /**
   * The tick at which the reader began with nothing: removals up to it are of documents it never saw. The epoch for one
   * who began before anything was published.
   */
  readonly began: Date;
}

/** The place before every change. */
export const beginning: PagePosition = {
  updatedAt: new Date(0),
  documentId: "00000000-0000-0000-0000-000000000000",
};

/** An opaque token: base64url of `[1, epoch ms, id, epoch ms]`. */
export function encodeChangeToken({ after, began }: ChangeToken): string {
  const value = [1, after.updatedAt.getTime(), after.documentId, began.getTime()];
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** What a token says. Throws `invalid` for one that was not made here: starting over in silence would hide removals. */
export function decodeChangeToken(token: string): ChangeToken {
  const value = token.length <= 256 ? parse(token) : undefined;
  const [version, time, id, began, ...more]: unknown[] = Array.isArray(value) ? value : [];
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (version !== 1 || documentId === undefined || !isTime(time) || !isTime(began) || more.length > 0) {
    throw new DomainError("invalid", "since must be a token that an earlier answer gave");
  }
  return { after: { updatedAt: new Date(time), documentId }, began: new Date(began) };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= 8.64e15;
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}
