import { hash } from "node:crypto";

/** The entity tags an `If-None-Match` lists, without their weakness: tags of reads are compared weakly. */
export function listedTags(ifNoneMatch: string | undefined): string[] {
  return [...(ifNoneMatch ?? "").matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)].map(([, tag = ""]) => tag);
}

/** Whether a client that sent this `If-None-Match` holds the copy with this tag. `*` means any copy. */
export function holdsCopy(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.trim() === "*" || listedTags(ifNoneMatch).includes(etag.replace(/^W\//, ""));
}

/** A weak tag of bytes. Weak, since compression changes the bytes and not the content. */
export function weakTag(body: string | Buffer): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, 27)}"`;
}
