import { createHash } from "node:crypto";

/** Weak entity tag of a page: of the last tick that touched its type, and of what was asked for. */
export function pageEtag(stamp: Date | undefined, query: readonly unknown[]): string {
  const digest = createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 12);
  return `W/"${(stamp?.getTime() ?? 0).toString(36)}.${digest}"`;
}

/**
 * Whether an `If-None-Match` value, one tag or several, names a tag; compared weakly (RFC 9110,
 * 8.8.3.2).
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const opaque = etag.replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => ["*", opaque].includes(tag.trim().replace(/^W\//, "")));
}
