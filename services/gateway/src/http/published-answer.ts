import { type Answer, notModified, tagged } from "./answer.ts";
import { holdsCopy, listedTags } from "./etag.ts";
import type { Call } from "./route.ts";

/** Readers may keep what they read, but ask each time whether it still stands. */
const cacheControl = "private, no-cache";

/** The tag to ask a service about; "" when the client names none or several, which only the gateway compares. */
export function heldTag(call: Pick<Call, "header">): string {
  const [tag, ...others] = listedTags(call.header("if-none-match"));
  return tag !== undefined && others.length === 0 ? `W/${tag}` : "";
}

/** An answer of a read: the body, or 304 when the client holds it or the service said that its copy still stands. */
export function publishedAnswer(
  call: Pick<Call, "header">,
  { etag, notModified: stands = false }: { readonly etag: string; readonly notModified?: boolean },
  body: () => Buffer,
): Answer {
  const held = stands || holdsCopy(call.header("if-none-match"), etag);
  return held ? notModified(etag, cacheControl) : tagged(body(), etag, cacheControl);
}
