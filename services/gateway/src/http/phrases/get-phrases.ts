import type { CallOptions, Client } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Readable } from "node:stream";
import { Type } from "typebox";
import { notModified } from "../answer.ts";
import { holdsCopy } from "../etag.ts";
import { defineRoute } from "../route.ts";
import { csvExample, phraseExample, phraseSchema } from "./phrase-schemas.ts";

const cacheControl = "private, no-cache";

type Phrases = Pick<Client<typeof PhraseService>, "getDictionaryRevision" | "listPhrases">;

/** How each format is asked for, framed and announced. */
const formats = {
  json: {
    format: PhraseFormat.JSON,
    before: '{"ok":true,"data":{"phrases":',
    after: "}}",
    headers: { "content-type": "application/json; charset=utf-8" },
  },
  csv: {
    format: PhraseFormat.CSV,
    before: "",
    after: "",
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="phrases.csv"',
    },
  },
};

const query = Type.Object(
  {
    language: Type.Optional(
      Type.String({ minLength: 1, "x-must": "a BCP 47 tag", description: "Only phrases of exactly this language." }),
    ),
    format: Type.Optional(
      Type.Unsafe<"json" | "csv">({ type: "string", enum: ["json", "csv"], "x-must": "json or csv", default: "json" }),
    ),
  },
  { additionalProperties: false },
);

/** The dictionary, streamed from cursor to socket. Whether a copy is still good is known without reading a row. */
export const getPhrases = defineRoute({
  method: "GET",
  url: "/v1/phrases",
  scope: "phrases:read",
  query,
  doc: {
    operationId: "listPhrases",
    summary: "Read or export the dictionary",
    description:
      "All of it, in one answer, ordered by language and phrase. An answer that breaks off is cut, never ended: " +
      "a file that arrived whole is whole.",
    success: {
      status: 200,
      description: "The dictionary",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ phrases: Type.Array(phraseSchema) }) }),
          example: { ok: true, data: { phrases: [phraseExample] } },
        },
        "text/csv": { schema: Type.String(), example: csvExample },
      },
    },
  },
  handler: (deps: { phrases: Phrases }) => async (call) => {
    const { language = "", format = "json" } = call.query;
    const { tenantId } = call.caller;
    // Before the rows, so that the tag is never newer than what it stands for.
    const state = await deps.phrases.getDictionaryRevision({ tenantId, language }, call.rpc);
    const etag = state.revision && `W/"${state.revision}-${state.language || "all"}-${format}"`;
    if (etag !== "" && holdsCopy(call.header("if-none-match"), etag)) return notModified(etag, cacheControl);
    const { headers, ...form } = formats[format];
    const request = { tenantId, language: state.language, format: form.format };
    return {
      status: 200,
      // While the dictionary is being changed, what is read stands for no state of it.
      headers: { ...headers, "cache-control": cacheControl, ...(etag === "" ? {} : { etag }) },
      body: () => Readable.from(exported(deps.phrases, request, form, call.rpc), { objectMode: false }),
    };
  },
});

/** Asks for the next piece when the socket has taken the last. What fails before the first one can still be answered. */
async function* exported(
  phrases: Phrases,
  request: { tenantId: string; language: string; format: PhraseFormat },
  { before, after }: { before: string; after: string },
  rpc: CallOptions,
): AsyncGenerator<Buffer> {
  let lead = before;
  // However slow the client is: the server cuts one that takes nothing at all.
  for await (const { content } of phrases.listPhrases(request, { ...rpc, timeoutMs: 0 })) {
    if (lead !== "") yield Buffer.from(lead);
    lead = "";
    yield Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }
  if (after !== "") yield Buffer.from(after);
}
