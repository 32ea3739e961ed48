import { matchesEntityTag, parseEntityTags } from "@vidimus/kit/entity-tags";
import { createHash } from "node:crypto";

export interface HeaderSource {
  /** A header by its lowercase name. */
  header(name: string): string | undefined;
}

/** Whether the client's `If-None-Match` names the copy with this tag. `*` names every copy. */
export function holdsCopy(request: HeaderSource, etag: string): boolean {
  return matchesEntityTag(request.header("if-none-match"), etag);
}

/**
 * The weak tag to send to a service; "" when the client names none, several or `*`: the gateway
 * compares those itself.
 */
export function heldTag(request: HeaderSource): string {
  const named = parseEntityTags(request.header("if-none-match"));
  return named !== "*" && named.length === 1 ? `W/${named[0]}` : "";
}

/**
 * A weak tag made from the bytes of a body; weak, because compression changes the bytes but not the
 * content.
 */
export function weakTag(body: string | readonly Uint8Array[]): string {
  const digest = createHash("sha256");
  for (const piece of typeof body === "string" ? [body] : body) digest.update(piece);
  return `W/"${digest.digest("base64url").slice(0, 27)}"`;
}
