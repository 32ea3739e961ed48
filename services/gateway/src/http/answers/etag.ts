import { hash } from "node:crypto";

/** A request, as far as its headers are read here. */
export interface HeaderSource {
  /** A header by its lowercase name. */
  header(name: string): string | undefined;
}

/**
 * The entity tags an `If-None-Match` lists, without their `W/`: reads compare tags weakly (RFC
 * 9110, 8.8.3.2).
 */
export function listedTags(ifNoneMatch: string | undefined): string[] {
  return [...(ifNoneMatch ?? "").matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)].map(([, tag = ""]) => tag);
}

/** Whether the client's `If-None-Match` names the copy with this tag. `*` names every copy. */
export function holdsCopy(request: HeaderSource, etag: string): boolean {
  const ifNoneMatch = request.header("if-none-match");
  return ifNoneMatch?.trim() === "*" || listedTags(ifNoneMatch).includes(etag.replace(/^W\//, ""));
}

/**
 * The weak tag to ask a service about: "" when the client names none or several, which only the
 * gateway compares.
 */
export function heldTag(request: HeaderSource): string {
  const [tag, ...others] = listedTags(request.header("if-none-match"));
  return tag !== undefined && others.length === 0 ? `W/${tag}` : "";
}

/**
 * A weak tag made from the bytes of a body. Weak, because compression changes the bytes and not the
 * content.
 */
export function weakTag(body: string | Buffer): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, 27)}"`;
}
