import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type {
  GetPublishedDocumentRequestSchema,
  GetPublishedDocumentResponse,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { Type } from "typebox";
import type { Answer } from "../../http/answers/answer.ts";
import { heldTag } from "../../http/answers/etag.ts";
import { publishedAnswer } from "./published-answer.ts";
import type { Call } from "../../http/route.ts";
import { documentExample, publishedDocument } from "./publisher-schemas.ts";

export interface DocumentDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "getPublishedDocument">;
}

export const documentQuery = Type.Object(
  {
    include: Type.Optional(
      Type.String({
        enum: ["links"],
        "x-must": "links",
        description: "links: the published documents it links to come along, by id; at most 100, and 4 MiB.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const documentSuccess = {
  status: 200,
  description: "The document",
  content: {
    "application/json": {
      schema: Type.Object({
        ok: Type.Literal(true),
        data: Type.Object({
          document: publishedDocument,
          included: Type.Optional(Type.Record(Type.String(), publishedDocument)),
        }),
      }),
      example: { ok: true, data: { document: documentExample } },
    },
  },
} as const;

/** Answers one document, by id or by slug; `include` is "links" or undefined. */
export async function answerDocument(
  { published }: DocumentDeps,
  call: Call,
  by: MessageInitShape<typeof GetPublishedDocumentRequestSchema>["by"] & object,
  include: string | undefined,
): Promise<Answer> {
  const { tenantId } = call.caller;
  const request = { tenantId, by, includeLinks: include === "links", ifNoneMatch: heldTag(call) };
  const answer = await published.getPublishedDocument(request, call.rpc);
  return publishedAnswer(call, answer, () => documentBody(answer));
}

const head = Buffer.from('{"ok":true,"data":{"document":');
const between = Buffer.from(',"included":');
const tail = Buffer.from("}}");

function documentBody({ documentJson, includedJson }: GetPublishedDocumentResponse): Uint8Array[] {
  const included = includedJson.byteLength > 0 ? [between, includedJson] : [];
  return [head, documentJson, ...included, tail];
}
