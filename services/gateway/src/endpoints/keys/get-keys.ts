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

const anyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, vidimus-trust-signature, vidimus-trust-statement, x-request-id",
};

interface GetKeysDeps {
  readonly trustList: TrustListCache;
}

/** The answer is the trust list itself, without the envelope of other answers. */
export const getKeys = defineRoute({
  method: "GET",
  url: "/api/keys",
  scope: "open",
  doc: {
    operationId: "listSigningKeys",
    summary: "Read the public keys that verify snapshots",
    description: [
      "Keep the answer for an hour. Look a snapshot's keyId up in keys.",
      "`Vidimus-Trust-Statement` and `Vidimus-Trust-Signature` tell that signing stated the list, and when.",
    ].join(" "),
    success: {
      status: 200,
      description: "The trust list",
      headers: {
        "Vidimus-Trust-Statement":
          "Base64 of four lines joined by LF: `vidimus-trust-v1`, revision, time of issue, SHA-256 of the body in hex.",
        "Vidimus-Trust-Signature":
          "Dictionary (RFC 9651): `keyid` and `key` (SPKI DER) of the list key, `sig`, and `delegation` of a root.",
      },
      content: { "application/json": { schema: trustList, example } },
    },
  },
  handler: (deps: GetKeysDeps) => async (call) => {
    const { body, statement, signature } = await deps.trustList();
    const etag = weakTag([statement, signature, body].join("\n"));
    const answer = cacheable(call, { etag, cacheControl }, () => body);
    const stated = { "vidimus-trust-statement": statement, "vidimus-trust-signature": signature };
    return { ...answer, headers: { ...answer.headers, ...stated, ...anyOrigin } };
  },
});
