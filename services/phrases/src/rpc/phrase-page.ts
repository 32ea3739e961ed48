import type { ListPhrasesRequest } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListPhrasesResponseSchema } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { Dictionary } from "../domain/dictionary.ts";
import { pageRowsMax, readPageToken, toPageToken } from "../domain/phrase-page.ts";
import type { PhraseText } from "../domain/text/phrase-text.ts";
import { invalid, readLanguageFilter } from "./requests.ts";

/** Longest text to search for; no phrase is longer. */
const containsCharsMax = 256;

/** Whether a request asks for a page. Otherwise it asks for all phrases in a stream. */
export function asksForPage({ limit, pageToken, contains }: ListPhrasesRequest): boolean {
  return limit > 0 || pageToken !== "" || contains !== "";
}

export async function readPhrasePage(
  phrases: Pick<Dictionary, "page">,
  request: ListPhrasesRequest,
  text: PhraseText,
): Promise<MessageInitShape<typeof ListPhrasesResponseSchema>> {
  const { tenantId, limit, pageToken } = request;
  if (limit < 1 || limit > pageRowsMax) throw invalid("/limit", `limit of a page must be from 1 to ${pageRowsMax}`);
  const contains = request.contains.normalize("NFC");
  // A text has at least as many code units as code points, so most need no counting of code points.
  if (contains.length > containsCharsMax && Array.from(contains).length > containsCharsMax) {
    throw invalid("/contains", `contains must have at most ${containsCharsMax} characters`);
  }
  const language = readLanguageFilter(request.language);
  const after = readPageToken(pageToken, language);
  const page = await phrases.page(tenantId, { language, contains, after, limit });
  const content = text.head + page.phrases.map(text.write).join(text.separator) + text.tail;
  return { content: Buffer.from(content), nextPageToken: toPageToken(page.next) };
}
