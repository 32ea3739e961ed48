import type { Client } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { phraseExample, phraseInput, phraseSchema } from "./phrase-schemas.ts";

interface PutPhrasesDeps {
  readonly phrases: Pick<Client<typeof PhraseService>, "upsertPhrase">;
}

/** The body is passed on unparsed, because the phrases service parses it. */
export const putPhrases = defineRoute({
  method: "PUT",
  url: "/v1/phrases",
  scope: "phrases:write",
  body: { types: ["application/json"], bytesMax: 1024 * 1024 },
  doc: {
    operationId: "putPhrase",
    summary: "Create or replace a phrase",
    description:
      "Replaces the phrase with this id if there is one, else the one with this language and phrase. " +
      "Members left out go back to their defaults. Safe to repeat.",
    body: {
      "application/json": { schema: phraseInput, example: { language: "sv-SE", phrase: "Försvarsmakten" } },
    },
    success: {
      status: 200,
      description: "The phrase as it is kept",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ phrase: phraseSchema }) }),
          example: { ok: true, data: { phrase: phraseExample } },
        },
      },
    },
    errors: {
      CONFLICT: "id belongs to one phrase and the text to another, 01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77",
    },
  },
  handler: (deps: PutPhrasesDeps) => async (call) => {
    const request = { tenantId: call.caller.tenantId, phraseJson: call.body };
    const { phraseJson } = await deps.phrases.upsertPhrase(request, call.rpc);
    const phrase: unknown = JSON.parse(Buffer.from(phraseJson).toString());
    return ok(200, { phrase });
  },
});
