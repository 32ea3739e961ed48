import { Type } from "typebox";
import type { TrustListCache } from "../../upstream/trust-list.ts";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";

const cacheControl = "public, max-age=3600, stale-if-error=3600";

const timestamp = Type.String({ format: "date-time" });

const trustList = Type.Object({
  active: Type.Union([Type.String(), Type.Null()]),
  keys: Type.Array(
    Type.Object({
      keyId: Type.String(),
      algorithm: Type.Literal("ed25519"),
      publicKey: Type.String({ description: "Base64 of SPKI DER." }),
      validFrom: timestamp,
      validUntil: Type.Union([timestamp, Type.Null()]),
    }),
  ),
});

const example = {
  active: "ed25519-_RENMB0vB33hQUuP",
  keys: [
    {
      keyId: "ed25519-_RENMB0vB33hQUuP",
      algorithm: "ed25519",
      publicKey: "MCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=",
      validFrom: "2026-11-21T09:30:00.000Z",
      validUntil: null,
    },
  ],
};

interface GetKeysDeps {
  readonly trustList: TrustListCache;
}

/** The trust list, without an envelope and without a key, readable from every origin. */
export const getKeys = defineRoute({
  method: "GET",
  url: "/api/keys",
  scope: "open",
  doc: {
    operationId: "listSigningKeys",
    summary: "Read the public keys that verify snapshots",
    description: "Keep the answer for an hour. Look a snapshot's keyId up in keys.",
    success: {
      status: 200,
      description: "The trust list",
      content: { "application/json": { schema: trustList, example } },
    },
  },
  handler: (deps: GetKeysDeps) => async (call) => {
    const body = JSON.stringify(await deps.trustList());
    const answer = cacheable(call, { etag: weakTag(body), cacheControl }, () => body);
    const anyOrigin = { "access-control-allow-origin": "*", "access-control-expose-headers": "etag, x-request-id" };
    return { ...answer, headers: { ...answer.headers, ...anyOrigin } };
  },
});
