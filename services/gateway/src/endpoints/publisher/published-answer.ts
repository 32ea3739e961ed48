import { type Answer, type BufferedBody, cacheable, type CacheRule } from "../../http/answers/answer.ts";
import type { HeaderSource } from "../../http/answers/etag.ts";

const cacheControl = "private, no-cache";

/** Answers a publisher read: the body, or 304 when the client has the copy with this tag. */
export function publishedAnswer(
  request: HeaderSource,
  tag: Omit<CacheRule, "cacheControl">,
  body: () => BufferedBody,
): Answer {
  return cacheable(request, { ...tag, cacheControl }, body);
}
