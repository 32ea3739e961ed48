import { Type } from "typebox";
import { attemptExample, attemptSchema, eventNames } from "./delivery-schemas.ts";

const name = Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
  description: "For people. null, the default: the host of the url.",
  "x-must": "1 to 200 characters without control characters, or null",
});
const description = Type.String({ maxLength: 1_000, description: "For people. Line ends and tabs are allowed." });
const secret = Type.String({
  pattern: "^whsec_[A-Za-z0-9+/]{32,86}={0,2}$",
  "x-must": "whsec_ and the base64 of 24 to 64 random bytes",
  description:
    "whsec_ and the base64 of 24 to 64 random bytes, for a receiver that has it before its first webhook. It is never shown.",
});

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: "Absolute https URL at an allowed port, without a user name, a password or a fragment.",
});
const events = Type.Array(Type.String({ enum: eventNames }), {
  minItems: 1,
  description: "What is posted. By default both snapshot events.",
});
const documentType = Type.String({
  pattern: String.raw`^[\w.-]{1,64}/[\w.-]{1,64}$`,
  "x-must": "a document type such as core/article",
});
const documentTypes = Type.Array(documentType, {
  maxItems: 50,
  description: "Only snapshots of documents of these types. None, the default, means all.",
});
const headers = Type.Record(
  Type.String({ pattern: "^[A-Za-z][A-Za-z0-9-]{0,63}$" }),
  Type.String({
    pattern: "^[!-~](?:[ -~]{0,1022}[!-~])?$",
    "x-must": "1 to 1024 visible ASCII characters, with spaces only between them",
  }),
  {
    additionalProperties: false,
    "x-names": "letters, digits and hyphens, at most 64, and begin with a letter",
    maxProperties: 16,
    description:
      "Sent with every webhook. Their values are not shown again. Headers of the platform and of the connection are refused.",
  },
);
const maxInFlight = Type.Integer({ minimum: 1, maximum: 128, description: "Most attempts in flight. Default: 32." });
const ratePerSecond = Type.Union([Type.Number({ minimum: 0.1, maximum: 1_000 }), Type.Null()], {
  description: "Most attempts a second. null, the default: no limit.",
  "x-must": "a number from 0.1 to 1000, or null for no limit",
});

export const endpointInput = Type.Object(
  {
    url,
    name: Type.Optional(name),
    description: Type.Optional(description),
    secret: Type.Optional(secret),
    events: Type.Optional(events),
    documentTypes: Type.Optional(documentTypes),
    headers: Type.Optional(headers),
    maxInFlight: Type.Optional(maxInFlight),
    ratePerSecond: Type.Optional(ratePerSecond),
    enabled: Type.Optional(Type.Boolean({ default: true, description: "Deliveries are held while it is false." })),
    verify: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Posts a signed ping at once. The endpoint is registered whatever comes of it.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Absent members keep their value. */
export const endpointPatch = Type.Object(
  {
    url: Type.Optional(url),
    name: Type.Optional(name),
    description: Type.Optional(description),
    secret: Type.Optional(secret),
    rotateSecret: Type.Optional(
      Type.Boolean({ default: false, description: "Makes a new secret, which ends every other one at once." }),
    ),
    events: Type.Optional(events),
    documentTypes: Type.Optional(documentTypes),
    headers: Type.Optional(headers),
    maxInFlight: Type.Optional(maxInFlight),
    ratePerSecond: Type.Optional(ratePerSecond),
  },
  { additionalProperties: false, minProperties: 1 },
);

const stamp = Type.String({ format: "date-time" });
const orNull = <T extends ReturnType<typeof Type.Object> | typeof stamp | ReturnType<typeof Type.Number>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const endpointMembers = {
  id: Type.String({ format: "uuid" }),
  url: Type.String(),
  name: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  disabled: orNull(
    Type.Object(
      {
        at: stamp,
        reason: Type.String({ enum: ["operator", "gone"], description: "gone: it answered 410 twice." }),
        actor: Type.Union([Type.String(), Type.Null()]),
      },
      { additionalProperties: false },
    ),
  ),
  events: Type.Array(Type.String()),
  documentTypes: Type.Array(Type.String()),
  headerNames: Type.Array(Type.String()),
  maxInFlight: Type.Integer({ minimum: 1, maximum: 128 }),
  ratePerSecond: orNull(Type.Number({ description: "null: no limit." })),
  previousSecretEndsAt: orNull(stamp),
  createdAt: stamp,
  updatedAt: stamp,
};

export const endpointSchema = Type.Object(endpointMembers, { additionalProperties: false });

const healthSchema = Type.Object(
  {
    gate: Type.String({
      enum: ["closed", "open", "probing", "paused", "disabled", "unopened"],
      description:
        "closed: attempts go out. open: it failed again and again, and gets one probe at a time. probing: a probe is due " +
        "or on its way. paused: it asked for a pause with Retry-After. disabled: nothing goes out. unopened: nothing goes " +
        "out, since its secret or headers, as they are stored, cannot be opened; rotate its secret and give its headers again.",
    }),
    openSince: orNull(stamp),
    nextProbeAt: orNull(stamp),
    oldestPendingAt: orNull(stamp),
    pendingDocuments: Type.Integer({ minimum: 0, description: "Documents of which a webhook is pending." }),
    lastAcceptedAt: orNull(stamp),
    lastFailure: orNull(attemptSchema),
    heldDeliveries: Type.Integer({ minimum: 0, maximum: 10_000, description: "Held, because it is disabled." }),
    hasMoreHeld: Type.Boolean({ description: "Whether more than 10,000 are held, which are not counted." }),
    oldestHeldAt: orNull(stamp),
  },
  { additionalProperties: false },
);

export const endpointWithHealthSchema = Type.Object(
  {
    ...endpointMembers,
    health: Type.Union([healthSchema, Type.Null()], { description: "null: it could not be found out in time." }),
  },
  { additionalProperties: false },
);

export const pingSchema = Type.Object(
  {
    accepted: Type.Boolean({ description: "Whether the answer was 2xx." }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: "null: there was no answer." }),
    failure: Type.Union([
      Type.String({ enum: ["address_refused", "dns", "tls", "timeout", "connection"] }),
      Type.Null(),
    ]),
    detail: Type.Union([Type.String(), Type.Null()]),
    tookMs: Type.Integer({ minimum: 0 }),
    answer: Type.String({ description: "Beginning of the answer's body, at most 1 KiB." }),
  },
  { additionalProperties: false },
);

export const secretSchema = Type.String({ pattern: "^whsec_[A-Za-z0-9+/]{43}=$", description: "Shown once." });

/** `{"ok":true,"data":{…}}` with these members of `data`. */
export function dataSchema(properties: Parameters<typeof Type.Object>[0]) {
  return Type.Object({ ok: Type.Literal(true), data: Type.Object(properties, { additionalProperties: false }) });
}

export const endpointParams = Type.Object({
  id: Type.String({ description: "Of the endpoint.", examples: ["01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77"] }),
});

/** The body rule of webhook routes. Settings are small, so 64 KiB are enough. */
export const jsonBody = { types: ["application/json"], bytesMax: 64 * 1024 };

/**
 * Longer than one attempt at a receiver may take, because the call answers with the attempt's
 * result.
 */
export const pingTimeoutMs = 18_000;

export const endpointExample = {
  id: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77",
  url: "https://hooks.example.org/vidimus",
  name: "hooks.example.org",
  description: "",
  enabled: true,
  disabled: null,
  events: ["snapshot.usable", "snapshot.withheld"],
  documentTypes: ["core/article"],
  headerNames: ["x-team"],
  maxInFlight: 32,
  ratePerSecond: null,
  previousSecretEndsAt: null,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z",
};

export const endpointWithHealthExample = {
  ...endpointExample,
  health: {
    gate: "open",
    openSince: "2026-11-21T09:31:00.000Z",
    nextProbeAt: "2026-11-21T09:32:10.000Z",
    oldestPendingAt: "2026-11-21T09:30:00.000Z",
    pendingDocuments: 12,
    lastAcceptedAt: "2026-11-21T09:29:58.000Z",
    lastFailure: attemptExample,
    heldDeliveries: 0,
    hasMoreHeld: false,
    oldestHeldAt: null,
  },
};

export const pingExample = { accepted: true, status: 204, failure: null, detail: null, tookMs: 41, answer: "" };

export const secretExample = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

export const noEndpoint = { NOT_FOUND: "there is no such endpoint" };

export const changeErrors = {
  ...noEndpoint,
  CONFLICT: "others change this endpoint at the same time; try again",
};
