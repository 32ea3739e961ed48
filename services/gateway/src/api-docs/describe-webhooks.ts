import { Type } from "typebox";
import { publishedDocument } from "../endpoints/publisher/publisher-schemas.ts";
import { publicSchema } from "./public-schema.ts";

type Json = Readonly<Record<string, unknown>>;

const stamp = Type.String({ format: "date-time" });
const uuid = Type.String({ format: "uuid" });
const base64 = Type.String({ description: "Base64." });

const signature = Type.Object(
  {
    keyId: Type.String({ description: "Names the entry of GET /api/keys." }),
    algorithm: Type.Literal("ed25519"),
    statement: Type.String({ description: "The signed text, nine lines, verbatim." }),
    value: base64,
  },
  { additionalProperties: false },
);

function snapshot(status: "usable" | "withheld") {
  return Type.Object({
    id: Type.String({
      description:
        "The webhook-id: the same in every attempt and to every endpoint, unless the snapshot was signed again.",
    }),
    type: Type.Literal(`snapshot.${status}`),
    timestamp: stamp,
    data: Type.Object({
      tenantId: Type.String(),
      documentId: uuid,
      documentType: Type.String(),
      version: Type.Integer({ minimum: 1 }),
      status: Type.Literal(status),
      sequence: Type.Integer({ minimum: 1, description: "Ignore what is not above the one you have." }),
      signature,
      snapshot: Type.Object(
        {
          ...publishedDocument.properties,
          type: Type.String({ description: "Any type, not only those that can be read over HTTP." }),
          meta: Type.Object(
            { status: Type.Literal(status), version: Type.Integer({ minimum: 1 }) },
            { additionalProperties: true },
          ),
        },
        { description: "The document, canonical JSON: verify its bytes as they arrived." },
      ),
    }),
  });
}

function notice(event: string, reasons: readonly string[], facts: Parameters<typeof Type.Object>[0]) {
  return Type.Object({
    id: Type.String({ description: "The webhook-id." }),
    type: Type.Literal(event),
    timestamp: stamp,
    data: Type.Object({
      tenantId: Type.String(),
      endpointId: uuid,
      host: Type.String({ description: "Of the endpoint's URL." }),
      reason: Type.String({ enum: [...reasons] }),
      ...facts,
    }),
  });
}

const since = Type.String({ format: "date-time", description: "The beginning of the trouble." });
const actor = Type.Union([Type.String(), Type.Null()], { description: "Who disabled it." });

const payloads = [
  { event: "snapshot.usable", summary: "A document was published", schema: snapshot("usable") },
  { event: "snapshot.withheld", summary: "A document was withdrawn", schema: snapshot("withheld") },
  {
    event: "endpoint.disabled",
    summary: "An endpoint was disabled",
    schema: notice("endpoint.disabled", ["operator", "gone"], { actor }),
  },
  {
    event: "endpoint.expiring",
    summary: "What waits for a disabled endpoint ends in a day",
    schema: notice("endpoint.expiring", ["operator", "gone"], { since, expiresAt: stamp }),
  },
  {
    event: "endpoint.recovered",
    summary: "An endpoint takes webhooks again",
    schema: notice("endpoint.recovered", ["enabled", "accepted"], { since }),
  },
  {
    event: "endpoint.ping",
    summary: "A test that was asked for",
    schema: Type.Object({
      id: Type.String(),
      type: Type.Literal("endpoint.ping"),
      timestamp: stamp,
      data: Type.Object({ tenantId: Type.String(), endpointId: uuid }),
    }),
  },
];

/** What the platform posts to registered endpoints: the `webhooks` of the API description. */
export function describeWebhooks(): Json {
  return Object.fromEntries(
    payloads.map(({ event, summary, schema }) => [event, { post: operation(event, summary, schema) }]),
  );
}

function operation(event: string, summary: string, schema: Parameters<typeof publicSchema>[0]): Json {
  const isSnapshot = event.startsWith("snapshot.");
  return {
    operationId: `on${event.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: isSnapshot
      ? "Signed with Ed25519 and two HMACs; sent at least once, in order for each document."
      : "Signed with two HMACs.",
    tags: ["payloads"],
    security: [],
    parameters: [...commonHeaders, ...(isSnapshot ? [keyHeader] : [])],
    requestBody: { required: true, content: { "application/json": { schema: publicSchema(schema) } } },
    responses: {
      "2XX": { description: "Stored: it is not sent again." },
      default: { description: "Everything else is repeated; 410 twice disables the endpoint." },
    },
  };
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}

const commonHeaders = [
  header(
    "webhook-id",
    "The same in every attempt, unless the snapshot was signed again: then it ends with _r2, _r3 and so on.",
  ),
  header("webhook-timestamp", "Seconds since 1970 at the attempt."),
  header("webhook-signature", "v1,<base64> of HMAC-SHA256 over id, timestamp and body (Standard Webhooks)."),
  header("x-vidimus-signature-256", "sha256=<hex> of HMAC-SHA256 over the body."),
  header("vidimus-event", "The event."),
  header("vidimus-delivery-id", "Names the delivery at this endpoint."),
  header("vidimus-attempt", "Number of the attempt, from 1."),
];
const keyHeader = header("vidimus-key-id", "The signing key.");
