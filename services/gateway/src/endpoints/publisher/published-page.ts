import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsResponse,
  PublishedDocumentService,
  PublishedFilter,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { type TSchema, Type } from "typebox";
import { parseTimestamp } from "./timestamp.ts";
import type { Answer } from "../../http/answers/answer.ts";
import { HttpError } from "../../errors/http-error.ts";
import { heldTag } from "../../http/answers/etag.ts";
import { publishedAnswer } from "./published-answer.ts";
import type { Call } from "../../http/route.ts";
import { integerText } from "../schemas.ts";

export interface PageDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "listPublishedDocuments">;
}

const limitDefault = 50;

export const limitParameter = Type.Optional(integerText(1, 200, String.raw`^(?:[1-9]\d?|1\d\d|200)$`, limitDefault));

/** The number in a validated `limitParameter`; 50 without one. */
export function readLimit(limit: string | undefined): number {
  return Number(limit ?? limitDefault);
}

export const cursorParameter = Type.Optional(
  Type.String({ description: "nextCursor of an earlier page, verbatim. A malformed one means from the top." }),
);

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

/** `{"ok":true,"data":{items,nextCursor,hasMore}}`, with the members of `more` in `data`. */
export function pageSchema(item: TSchema, more: Parameters<typeof Type.Object>[0] = {}) {
  return Type.Object({
    ok: Type.Literal(true),
    data: Type.Object({
      items: Type.Array(item, { maxItems: 200 }),
      ...more,
      nextCursor: Type.String(),
      hasMore: Type.Boolean(),
    }),
  });
}

interface PageQuery {
  readonly updatedSince?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

export type FilterName = Exclude<keyof PublishedFilter, "$typeName" | "$unknown">;

/** Fields of `ListPublishedDocumentsRequest`, whose proto file explains them. */
interface PageSelection {
  readonly type: string;
  readonly filter?: { readonly [Name in FilterName]?: string };
  readonly includeLinks?: boolean;
  readonly includeLinked?: boolean;
  readonly refuseForeignCursor?: boolean;
}

/** The items of the page come from documents as JSON bytes and are not parsed here. */
export async function answerPage(
  { published }: PageDeps,
  call: Call,
  selection: PageSelection,
  query: PageQuery,
): Promise<Answer> {
  const { tenantId } = call.caller;
  const request = { tenantId, ifNoneMatch: heldTag(call), ...selection, ...readQuery(query) };
  const page = await published.listPublishedDocuments(request, call.rpc);
  const shared = { tenantId, name: JSON.stringify([selection, query]) };
  return { ...publishedAnswer(call, page, () => pageBody(page)), shared };
}

function readQuery({ updatedSince, limit, cursor }: PageQuery) {
  const since = updatedSince === undefined ? undefined : parseTimestamp(updatedSince);
  if (updatedSince !== undefined && since === undefined) {
    throw new HttpError("INVALID_QUERY", 'query parameter "updatedSince" must be an ISO 8601 timestamp');
  }
  return {
    limit: readLimit(limit),
    cursor: cursor ?? "",
    ...(since === undefined ? {} : { updatedSince: timestampFromMs(clampToRpc(since)) }),
  };
}

/** The range of a protobuf Timestamp: the years 1 to 9999, in UTC. */
const rpcMsMin = Date.parse("0001-01-01T00:00:00.000Z");
const rpcMsMax = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Moves an instant into the range of a Timestamp. All stored times are within these years, so a
 * query with the nearest instant selects the same documents, snapshots or deliveries.
 */
export function clampToRpc(ms: number): number {
  return Math.min(Math.max(ms, rpcMsMin), rpcMsMax);
}

const head = Buffer.from('{"ok":true,"data":{"items":');
const between = Buffer.from(',"included":');

/** Returns pieces, so that the readers of a page of 4 MiB share its bytes and hold no copies. */
function pageBody({ itemsJson, includedJson, nextCursor, hasMore }: ListPublishedDocumentsResponse): Uint8Array[] {
  const included = includedJson.byteLength > 0 ? [between, includedJson] : [];
  return [
    head,
    itemsJson,
    ...included,
    Buffer.from(`,"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}}`),
  ];
}
