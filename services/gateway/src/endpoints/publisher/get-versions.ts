import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type {
  PublishedDocumentService,
  PublishedVersion,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { Type } from "typebox";
import { weakTag } from "../../http/answers/etag.ts";
import { publishedAnswer } from "./published-answer.ts";
import { cursorParameter, limitParameter, readLimit } from "./published-page.ts";
import { defineRoute } from "../../http/route.ts";
import { absence, digest, idParameter, sequenceNumber, versionNumber } from "./publisher-schemas.ts";

const versionEntry = Type.Object(
  {
    version: versionNumber,
    sequence: sequenceNumber,
    updated_at: Type.String({ format: "date-time" }),
    sha256: digest,
  },
  { additionalProperties: false },
);

const example = {
  version: 7,
  sequence: 12,
  updated_at: "2026-11-21T09:30:00.000Z",
  sha256: "b1d9c9a0f8b1a3b0d5d4b7c6e5f4a3928170615243342516f7e8d9cabbac9d8e",
};

interface GetVersionsDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "listPublishedVersions">;
}

export const getVersions = defineRoute({
  method: "GET",
  url: "/v1/publisher/documents/:id/versions",
  scope: "publisher:read",
  query: Type.Object({ limit: limitParameter, cursor: cursorParameter }, { additionalProperties: false }),
  params: Type.Object({ id: idParameter }),
  doc: {
    operationId: "listPublishedVersions",
    summary: "Read which versions of a document were published",
    description: "Newest first, each as it was published last. 410 while the document is withdrawn.",
    success: {
      status: 200,
      description: "One page",
      content: {
        "application/json": {
          schema: Type.Object({
            ok: Type.Literal(true),
            data: Type.Object({
              versions: Type.Array(versionEntry, { maxItems: 200 }),
              nextCursor: Type.String(),
              hasMore: Type.Boolean(),
            }),
          }),
          example: { ok: true, data: { versions: [example], nextCursor: "WzEsN10", hasMore: false } },
        },
      },
    },
    errors: absence,
  },
  handler: (deps: GetVersionsDeps) => async (call) => {
    const { limit, cursor = "" } = call.query;
    const request = { tenantId: call.caller.tenantId, documentId: call.params.id, limit: readLimit(limit), cursor };
    const { versions, nextCursor, hasMore } = await deps.published.listPublishedVersions(request, call.rpc);
    const data = { versions: versions.map(toEntry), nextCursor, hasMore };
    const body = JSON.stringify({ ok: true, data });
    return publishedAnswer(call, { etag: weakTag(body) }, () => body);
  },
});

function toEntry({ version, sequence, updatedAt, sha256 }: PublishedVersion) {
  return {
    version: Number(version),
    sequence: Number(sequence),
    updated_at: toText(updatedAt),
    sha256: Buffer.from(sha256).toString("hex"),
  };
}

function toText(time: Timestamp | undefined): string {
  if (!time) throw new Error("a published version without its time");
  return timestampDate(time).toISOString();
}
