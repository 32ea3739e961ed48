import type { Client } from "@connectrpc/connect";
import type {
  ListPublishedChangesResponse,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { type Static, Type } from "typebox";
import type { BufferedBody } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { limitParameter, readLimit } from "./published-page.ts";
import { publishedAnswer } from "./published-answer.ts";
import { type Call, defineRoute } from "../../http/route.ts";
import { documentId, integerText, publishableTypes } from "../schemas.ts";
import { documentExample, publishedDocument, sequenceNumber, versionNumber } from "./publisher-schemas.ts";

const query = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        maxLength: 256,
        description:
          "since of the answer before, verbatim. Without it everything that is published comes, oldest first. " +
          "The since of an empty answer is a new one, behind all that was looked through: keep it, too.",
        "x-must": "a token that an earlier answer gave",
      }),
    ),
    type: Type.Optional(
      Type.String({
        enum: [...publishableTypes],
        "x-must": `one of ${publishableTypes.join(", ")}`,
        description: "Only changes of this type, removals included. A token is good for the type it was given for.",
      }),
    ),
    limit: limitParameter,
    wait: Type.Optional({
      ...integerText(0, 20, String.raw`^(?:1?\d|20)$`, 0),
      description: "Seconds to wait for a change when there is none. The answer may come sooner.",
    }),
  },
  { additionalProperties: false },
);

const change = {
  id: documentId,
  type: Type.Union(publishableTypes.map((type) => Type.Literal(type))),
  version: versionNumber,
  sequence: sequenceNumber,
  updated_at: Type.String({ format: "date-time" }),
};
const item = Type.Union([
  Type.Object(
    { change: Type.Literal("upsert"), ...change, document: publishedDocument },
    { additionalProperties: false },
  ),
  Type.Object({ change: Type.Literal("withdraw"), ...change }, { additionalProperties: false }),
]);

const { id, type, updated_at } = documentExample;
const example = {
  items: [
    { change: "upsert", id, type, version: 7, sequence: 12, updated_at, document: documentExample },
    {
      change: "withdraw",
      id: "0b8f2f9e-6f0a-4f43-8f5e-0d8d8f0c2a51",
      type: "core/image",
      version: 2,
      sequence: 3,
      updated_at: "2026-11-21T09:30:00.001Z",
    },
  ],
  since: "WzEsMTc5NTI1…",
  hasMore: false,
};

interface GetChangesDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "listPublishedChanges">;
}

export const getChanges = defineRoute({
  method: "GET",
  url: "/v1/publisher/changes",
  scope: "publisher:read",
  query,
  doc: {
    operationId: "listChanges",
    summary: "Follow what is published and withdrawn",
    description:
      "Oldest first. A document that changed twice is there once, as it stands now. A client that hands back every answer's " +
      "since misses no publication and no removal. Ask again at once while hasMore is true.",
    success: {
      status: 200,
      description: "Changes, and the token to go on from",
      content: {
        "application/json": {
          schema: Type.Object({
            ok: Type.Literal(true),
            data: Type.Object({
              items: Type.Array(item, { maxItems: 200 }),
              since: Type.String(),
              hasMore: Type.Boolean(),
            }),
          }),
          example: { ok: true, data: example },
        },
      },
    },
  },
  handler: (deps: GetChangesDeps) => async (call) => {
    const answer = await readChanges(deps, call, call.query);
    const { etag, body } = representationOf(answer);
    return publishedAnswer(call, { etag }, () => body);
  },
});

const waitSlackMs = 10_000;

async function readChanges(
  { published }: GetChangesDeps,
  call: Call,
  { since = "", type = "", limit, wait = "0" }: Static<typeof query>,
): Promise<ListPublishedChangesResponse> {
  const request = { tenantId: call.caller.tenantId, since, type, limit: readLimit(limit) };
  const look = () => published.listPublishedChanges(request, call.rpc);
  const waitMs = Number(wait) * 1_000;
  if (waitMs === 0) return look();
  return call.longPoll(async (idle) => {
    // The first call does not wait: it finds changes that are there already. Its empty answer is
    // sent when the wait of the second call is ended early.
    const now = await look();
    if (!isEmpty(now)) return now;
    const waiting = { ...request, since: now.since, waitMs };
    const timeoutMs = waitMs + waitSlackMs;
    const later = await idle((signal) => published.listPublishedChanges(waiting, { ...call.rpc, signal, timeoutMs }));
    return later ?? now;
  });
}

function isEmpty({ itemsJson }: ListPublishedChangesResponse): boolean {
  return itemsJson.byteLength <= "[]".length;
}

interface Representation {
  readonly etag: string;
  readonly body: BufferedBody;
}

const representations = new WeakMap<ListPublishedChangesResponse, Representation>();

/**
 * The body of an answer and its tag, made once for all followers who share the answer. Copying and
 * hashing 4 MiB for each of 200 followers took 800 MiB and blocked the event loop for 1.5 s.
 */
function representationOf(answer: ListPublishedChangesResponse): Representation {
  const known = representations.get(answer);
  if (known) return known;
  const body = changesBody(answer);
  const made = { etag: weakTag(body), body };
  representations.set(answer, made);
  return made;
}

const head = Buffer.from('{"ok":true,"data":{"items":');

function changesBody({ itemsJson, since, hasMore }: ListPublishedChangesResponse): Uint8Array[] {
  return [head, itemsJson, Buffer.from(`,"since":${JSON.stringify(since)},"hasMore":${hasMore}}}`)];
}
