import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsResponse,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { type TSchema, Type } from "typebox";
import { parseTimestamp } from "../domain/timestamp.ts";
import type { Answer } from "./answer.ts";
import { HttpError } from "./http-error.ts";
import { heldTag, publishedAnswer } from "./published-answer.ts";
import type { Call } from "./route.ts";
import { integerText } from "./schemas.ts";

/** What reads pages. */
export interface PageDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "listPublishedDocuments">;
}

/** How many items an answer has at most. */
export const limitParameter = Type.Optional(integerText(1, 200, String.raw`^(?:[1-9]\d?|1\d\d|200)$`, 50));

/** Where a page starts. */
export const cursorParameter = Type.Optional(
  Type.String({ description: "nextCursor of an earlier page, verbatim. A malformed one means from the top." }),
);

/** The query parameters of every walk through published documents. */
export const pageParameters = {
  updatedSince: Type.Optional(
    Type.String({
      examples: ["2026-11-21T09:30:00.000Z"],
      description:
        "ISO 8601 date or date-time, UTC where it names no offset. Only documents whose updated_at is at or after it.",
    }),
  ),
  limit: limitParameter,
  cursor: cursorParameter,
};

/** `{"ok":true,"data":{items,nextCursor,hasMore}}`. */
export function pageSchema(item: TSchema) {
  return Type.Object({
    ok: Type.Literal(true),
    data: Type.Object({
      items: Type.Array(item, { maxItems: 200 }),
      nextCursor: Type.String(),
      hasMore: Type.Boolean(),
    }),
  });
}

/** Values of `pageParameters`. */
export interface PageQuery {
  readonly updatedSince?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

/** Which documents a page shows, and in which form. */
export interface PageSelection {
  readonly type: string;
  readonly filter?: {
    readonly tag?: string;
    readonly site?: string;
    readonly language?: string;
    readonly slug?: string;
  };
  readonly includeLinks?: boolean;
}

/** Answers one page. The items arrive as one run of stored bytes and are only framed here. */
export async function answerPage(
  { published }: PageDeps,
  call: Call,
  selection: PageSelection,
  query: PageQuery,
): Promise<Answer> {
  const request = { tenantId: call.caller.tenantId, ifNoneMatch: heldTag(call), ...selection, ...readQuery(query) };
  const page = await published.listPublishedDocuments(request, call.rpc);
  return publishedAnswer(call, page, () => framed(page));
}

function readQuery({ updatedSince, limit, cursor }: PageQuery) {
  const since = updatedSince === undefined ? undefined : parseTimestamp(updatedSince);
  if (updatedSince !== undefined && since === undefined) {
    throw new HttpError("INVALID_QUERY", 'query parameter "updatedSince" must be an ISO 8601 timestamp');
  }
  return {
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
