import { type Answer, type BufferedBody, cacheable, type CacheRule } from "../../http/answers/answer.ts";
import type { HeaderSource } from "../../http/answers/etag.ts";

/** Readers may keep what they read, but have to ask each time whether it is still current. */
const cacheControl = "private, no-cache";

/** Answers a publisher read: its body, or 304 when the client holds the copy with this tag. */
export function publishedAnswer(
  request: HeaderSource,
  tag: Omit<CacheRule, "cacheControl">,
  body: () => BufferedBody,
): Answer {
  return cacheable(request, { ...tag, cacheControl }, body);
}
