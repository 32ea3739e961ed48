import { parseEntityTags } from "@vidimus/kit/entity-tags";
import { createHash } from "node:crypto";

/**
 * Makes the weak entity tag of a page or of one document.
 *
 * @param stamp the last tick that touched the page's types, or the document's `updatedAt`
 * @param query what else decides the answer: the request, or ids and sequences
 */
export function pageEtag(stamp: Date | undefined, query: readonly unknown[]): string {
  return `W/"${(stamp?.getTime() ?? 0).toString(36)}.${digestOf(query)}"`;
}

/** The newest tick in those tags of `field` that belong to the page; undefined without any. */
export function newestStamp(field: string, query: readonly unknown[]): Date | undefined {
  const tags = parseEntityTags(field);
  if (tags === "*" || tags.length === 0) return undefined;
  const tail = `.${digestOf(query)}"`;
  const stamps = tags.flatMap((tag) => (tag.endsWith(tail) ? parseInt(tag.slice(1, -tail.length), 36) : []));
  const dates = stamps.map((ms) => new Date(ms)).filter((date) => !Number.isNaN(date.getTime()));
  return dates.length === 0 ? undefined : new Date(Math.max(...dates.map((date) => date.getTime())));
}

function digestOf(query: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(query)).digest("base64url").slice(0, 12);
}
