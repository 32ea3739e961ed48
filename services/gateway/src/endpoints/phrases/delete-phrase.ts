import type { Client } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { phraseExample } from "./phrase-schemas.ts";

interface DeletePhraseDeps {
  readonly phrases: Pick<Client<typeof PhraseService>, "deletePhrase">;
}

export const deletePhrase = defineRoute({
  method: "DELETE",
  url: "/v1/phrases/:id",
  scope: "phrases:write",
  params: Type.Object({ id: Type.String({ description: "Of the phrase." }) }),
  doc: {
    operationId: "deletePhrase",
    summary: "Delete a phrase",
    success: {
      status: 200,
      description: "Deleted",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ id: Type.String({ format: "uuid" }) }) }),
          example: { ok: true, data: { id: phraseExample.id } },
        },
      },
    },
    errors: { NOT_FOUND: "there is no phrase with this id" },
  },
  handler: (deps: DeletePhraseDeps) => async (call) => {
    const request = { tenantId: call.caller.tenantId, phraseId: call.params.id };
    const { phraseId } = await deps.phrases.deletePhrase(request, call.rpc);
    return ok(200, { id: phraseId });
  },
});
