import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsResponse,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { type Static, Type } from "typebox";
import { parseTimestamp } from "../domain/timestamp.ts";
import { notModified, tagged } from "./answer.ts";
import { holdsCopy, listedTags } from "./etag.ts";
import { HttpError } from "./http-error.ts";
import { defineRoute } from "./route.ts";
import { documentProjection, integerText, publishableTypes } from "./schemas.ts";

const cacheControl = "private, no-cache";

const query = Type.Object(
  {
    type: Type.String({ enum: [...publishableTypes], "x-must": `one of ${publishableTypes.join(", ")}` }),
    status: Type.Optional(Type.String({ enum: ["usable"], "x-must": "usable" })),
    updatedSince: Type.Optional(
      Type.String({
        examples: ["2026-11-21T09:30:00.000Z"],
        description:
          "ISO 8601 date or date-time, UTC where it names no offset. Only documents whose updated_at is at or after it.",
      }),
    ),
    limit: Type.Optional(integerText(1, 200, "^(?:[1-9]\\d?|1\\d\\d|200)$", 50)),
    cursor: Type.Optional(
      Type.String({ description: "nextCursor of an earlier page, verbatim. A malformed one means from the top." }),
    ),
  },
  { additionalProperties: false },
);

const page = Type.Object({
  ok: Type.Literal(true),
  data: Type.Object({
    items: Type.Array(documentProjection, { maxItems: 200 }),
    nextCursor: Type.String(),
    hasMore: Type.Boolean(),
  }),
});

/** One page of what is published. The items arrive as one run of stored bytes and are only framed here. */
export const getDocuments = defineRoute({
  method: "GET",
  url: "/v1/documents",
  scope: "publisher:read",
  query,
  doc: {
    operationId: "listDocuments",
    summary: "Read published documents",
    description: "Newest first. Follow nextCursor until hasMore is false. A page may end before its limit.",
    success: {
      status: 200,
      description: "One page",
      content: {
        "application/json": {
          schema: page,
          example: { ok: true, data: { items: [], nextCursor: "", hasMore: false } },
        },
      },
    },
  },
  handler:
    (deps: { published: Pick<Client<typeof PublishedDocumentService>, "listPublishedDocuments"> }) => async (call) => {
      const held = call.header("if-none-match");
      const [tag, ...others] = listedTags(held);
      const ifNoneMatch = tag !== undefined && others.length === 0 ? `W/${tag}` : "";
      const request = { tenantId: call.caller.tenantId, ifNoneMatch, ...readQuery(call.query) };
      const answer = await deps.published.listPublishedDocuments(request, call.rpc);
      if (answer.notModified || holdsCopy(held, answer.etag)) return notModified(answer.etag, cacheControl);
      return tagged(framed(answer), answer.etag, cacheControl);
    },
});

function readQuery({ type, updatedSince, limit, cursor }: Static<typeof query>) {
  const since = updatedSince === undefined ? undefined : parseTimestamp(updatedSince);
  if (updatedSince !== undefined && since === undefined) {
    throw new HttpError("INVALID_QUERY", 'query parameter "updatedSince" must be an ISO 8601 timestamp');
  }
  return {
    type,
    limit: Number(limit ?? 50),
    cursor: cursor ?? "",
    ...(since === undefined ? {} : { updatedSince: timestampFromMs(since) }),
  };
}

const head = Buffer.from('{"ok":true,"data":{"items":');

function framed({ itemsJson, nextCursor, hasMore }: ListPublishedDocumentsResponse): Buffer {
  return Buffer.concat([
    head,
    itemsJson,
    Buffer.from(`,"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}}`),
  ]);
}
