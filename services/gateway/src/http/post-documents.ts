import { Type } from "typebox";
import { written } from "./answer.ts";
import { defineRoute } from "./route.ts";
import type { Intake } from "../upstream/intake.ts";
import { documentId, draftDocument, wrappedDraft } from "./schemas.ts";

const example = {
  id: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  type: "core/newswire",
  title: "Council votes on the new bridge",
  meta: { priority: 3, source: "example-wire" },
  content: { blocks: [{ type: "core/paragraph", data: { text: "The council votes on Friday." } }] },
};

/** Takes a document in. The body goes on as it came: the documents service parses it, once. */
export const postDocuments = defineRoute({
  method: "POST",
  url: "/v1/documents",
  scope: "documents:create",
  body: { types: ["application/json"], bytesMax: 1024 * 1024 },
  doc: {
    operationId: "createDocument",
    summary: "Create a document",
    description:
      "The id is yours and makes a retry safe: 409 on your own retry means that the document is there. " +
      "The platform sets meta.status to draft and owns meta.version, meta.workflowId and meta.workflowVersion.",
    body: { "application/json": { schema: Type.Union([draftDocument, wrappedDraft]), example } },
    success: {
      status: 201,
      description: "Created",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ id: documentId }) }),
          example: { ok: true, data: { id: example.id } },
        },
      },
    },
    errors: { CONFLICT: "document 7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10 already exists" },
  },
  handler: (deps: { createDocument: Intake }) => async (call) => {
    const id = await deps.createDocument({ caller: call.caller, documentJson: call.body, rpc: call.rpc });
    return written(201, { id });
  },
});
