import { PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Readable } from "node:stream";
import type { TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";

/**
 * `GET /t/{tenant}/phrases/export`: the dictionary, or one language of it, as a CSV file. The
 * console reads it from the service at the pace of the browser. A failure in the middle resets the
 * connection, so that a partial file does not look complete.
 */
export function getPhrasesFile({ phrases }: { readonly phrases: Pick<PhraseCalls, "listPhrases"> }): TenantRoute {
  return {
    access: "member",
    method: "GET",
    path: "/phrases/export",
    right: "member",
    handle: async ({ tenant: { tenantId }, query, rpc }) => {
      const language = query.get("language")?.trim() ?? "";
      // No deadline, because the reader may be slow. The signal ends the call when the browser has
      // left.
      const parts = phrases.listPhrases({ tenantId, language, format: PhraseFormat.CSV }, { ...rpc, timeoutMs: 0 });
      const messages = parts[Symbol.asyncIterator]();
      // Refusals come before the first part, and are answered with a page.
      const first = await messages.next();
      const name = language === "" ? "phrases.csv" : `phrases-${language.replace(/[^\w-]/g, "")}.csv`;
      return { type: "text/csv; charset=utf-8", name, file: Readable.from(contents(first, messages)) };
    },
  };
}

type Message = { readonly content: Uint8Array };

async function* contents(first: IteratorResult<Message>, rest: AsyncIterator<Message>): AsyncGenerator<Uint8Array> {
  try {
    for (let part = first; !part.done; part = await rest.next()) yield part.value.content;
  } finally {
    await rest.return?.();
  }
}
