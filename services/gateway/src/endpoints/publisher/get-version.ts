import type { Client } from "@connectrpc/connect";
import type {
  GetPublishedVersionResponse,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import type { Snapshot } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { Type } from "typebox";
import { weakTag } from "../../http/answers/etag.ts";
import { publishedAnswer } from "./published-answer.ts";
import { defineRoute } from "../../http/route.ts";
import {
  absence,
  digest,
  documentExample,
  idParameter,
  publishedDocument,
  sequenceNumber,
  versionNumber,
} from "./publisher-schemas.ts";

const signature = Type.Object(
  {
    keyId: Type.String({ description: "Selects the public key in GET /api/keys." }),
    algorithm: Type.Literal("ed25519"),
    statement: Type.String({ description: "The signed text, verbatim. Its last line is the snapshot's sha256." }),
    value: Type.String({ contentEncoding: "base64", description: "The signature over the statement." }),
  },
  { additionalProperties: false },
);

const snapshot = Type.Object(
  {
    sequence: sequenceNumber,
    status: Type.Literal("usable"),
    bytes: Type.String({ contentEncoding: "base64", description: "The snapshot, byte for byte: canonical JSON." }),
    sha256: digest,
    signature: Type.Union([signature, Type.Null()], { description: "null until it is signed." }),
  },
  { additionalProperties: false },
);

const example = {
  version: 7,
  document: documentExample,
  snapshots: [
    {
      sequence: 12,
      status: "usable",
      bytes: "eyJjb250ZW50Ijp7fSwi…",
      sha256: "b1d9c9a0f8b1a3b0d5d4b7c6e5f4a3928170615243342516f7e8d9cabbac9d8e",
      signature: {
        keyId: "ed25519-_RENMB0vB33hQUuP",
        algorithm: "ed25519",
        statement: "vidimus-snapshot-v1\ndemo\n4f7d4c3e-4a9c-4a37-9d0f-6f2b1f0a9e11\n12\n7\nusable\n…",
        value: "5Zq1b6pY…",
      },
    },
  ],
};

interface GetVersionDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "getPublishedVersion">;
}

export const getVersion = defineRoute({
  method: "GET",
  url: "/v1/publisher/documents/:id/versions/:n",
  scope: "publisher:read",
  params: Type.Object({
    id: idParameter,
    n: Type.String({
      pattern: String.raw`^[1-9]\d{0,14}$`,
      description: "The version.",
      "x-must": "a version, counted from 1",
      "x-described-as": { type: "integer", minimum: 1, maximum: 999_999_999_999_999 },
    }),
  }),
  doc: {
    operationId: "getPublishedVersion",
    summary: "Read a published version with its signed snapshots",
    description:
      "Snapshots by ascending sequence; only the newest when all of them have more than 8 MiB. 404 for a version that " +
      "was never published, 410 while the document is withdrawn.",
    success: {
      status: 200,
      description: "The version",
      content: {
        "application/json": {
          schema: Type.Object({
            ok: Type.Literal(true),
            data: Type.Object({
              version: Type.Object(
                {
                  version: versionNumber,
                  document: publishedDocument,
                  snapshots: Type.Array(snapshot, { minItems: 1 }),
                },
                { additionalProperties: false },
              ),
            }),
          }),
          example: { ok: true, data: { version: example } },
        },
      },
    },
    errors: absence,
  },
  handler: (deps: GetVersionDeps) => async (call) => {
    const { id: documentId, n } = call.params;
    const request = { tenantId: call.caller.tenantId, documentId, version: BigInt(n) };
    const body = versionBody(await deps.published.getPublishedVersion(request, call.rpc));
    return publishedAnswer(call, { etag: weakTag(body) }, () => body);
  },
});

function versionBody({ version, snapshots }: GetPublishedVersionResponse): Uint8Array[] {
  const newest = snapshots.at(-1);
  if (!newest) throw new Error("a published version without a snapshot");
  return [
    Buffer.from(`{"ok":true,"data":{"version":{"version":${version},"document":`),
    newest.snapshotJson,
    Buffer.from(`,"snapshots":${JSON.stringify(snapshots.map(toJson))}}}}`),
  ];
}

function toJson({ reference, status, snapshotJson, sha256, signature }: Snapshot) {
  return {
    sequence: Number(reference?.sequence),
    status,
    bytes: base64(snapshotJson),
    sha256: Buffer.from(sha256).toString("hex"),
    signature: signature
      ? {
          keyId: signature.keyId,
          algorithm: "ed25519",
          statement: signature.statement,
          value: base64(signature.value),
        }
      : null,
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
