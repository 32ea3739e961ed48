import type { CallOptions, Client } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Type } from "typebox";
import { notModified } from "../../http/answers/answer.ts";
import { holdsCopy } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";
import { csvExample, phraseExample, phraseSchema } from "./phrase-schemas.ts";

const cacheControl = "private, no-cache";

interface GetPhrasesDeps {
  readonly phrases: Pick<Client<typeof PhraseService>, "getDictionaryRevision" | "listPhrases">;
}

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

/** A 304 reads no phrases, because the tag is made from the dictionary's revision. */
export const getPhrases = defineRoute({
  method: "GET",
  url: "/v1/phrases",
  scope: "phrases:read",
  query,
  streams: true,
  doc: {
    operationId: "listPhrases",
    summary: "Read or export the dictionary",
    description:
      "All of it as it was at one moment, in one answer, ordered by language and phrase. An answer that breaks off " +
      "has its connection reset: a file that arrived whole is whole. The database keeps the moment for five minutes " +
      "by default, and an answer that is not read by then is cut. A tenant has eight exports under way at once; a ninth waits for up to a second, " +
      "and is then answered 429; a seventeenth is at once.",
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
  handler: (deps: GetPhrasesDeps) => async (call) => {
    const { language = "", format = "json" } = call.query;
    const { tenantId } = call.caller;
    const state = await deps.phrases.getDictionaryRevision({ tenantId, language }, call.rpc);
    const tagOf = (revision: string) => `W/"${revision}-${state.language || "all"}-${format}"`;
    const known = tagOf(state.revision);
    if (state.revision !== "" && holdsCopy(call, known)) return notModified(known, cacheControl);
    const { headers, ...form } = formats[format];
    // During a change the dictionary has no revision, and the answer no tag, because two readers
    // may see different rows.
    const headersOf = (revision: string) => ({
      ...headers,
      "cache-control": cacheControl,
      ...(revision === "" ? {} : { etag: tagOf(revision) }),
    });
    const request = { tenantId, language: state.language, format: form.format };
    let shown = "";
    const show = (revision: string) => (shown = revision);
    return {
      status: 200,
      headers: headersOf(state.revision),
      // The rows may be of a newer revision than the one that was read before them.
      headersOnceBegun: () => headersOf(shown),
      body: () => exported(deps, request, { ...form, show }, { ...call.rpc, signal: call.gone() }),
    };
  },
});

/**
 * Reads a piece only when the answer can take it, so that a slow reader slows the export down at
 * phrases. Before it yields a piece, it calls `show` with the revision of the piece's rows.
 */
async function* exported(
  { phrases }: GetPhrasesDeps,
  request: { tenantId: string; language: string; format: PhraseFormat },
  { before, after, show }: { before: string; after: string; show(revision: string): void },
  rpc: CallOptions & { signal: AbortSignal },
): AsyncGenerator<Buffer> {
  let lead = before;
  // No deadline for the call, because the answer has one. The signal ends the call when this loop
  // is left early.
  for await (const { content, revision } of phrases.listPhrases(request, { ...rpc, timeoutMs: 0 })) {
    show(revision);
    if (lead !== "") yield Buffer.from(lead);
    lead = "";
    yield Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }
  if (after !== "") yield Buffer.from(after);
}
