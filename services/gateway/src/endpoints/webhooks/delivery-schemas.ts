import { Type } from "typebox";
import { documentId } from "../schemas.ts";

export const eventNames = [
  "snapshot.usable",
  "snapshot.withheld",
  "endpoint.disabled",
  "endpoint.expiring",
  "endpoint.recovered",
];

const deliveryStates = ["pending", "held", "delivered", "superseded", "exhausted"];

/**
 * States of the deliveries that a replay may send again. `missing` stands for snapshots without a
 * delivery.
 */
export const replayStates = ["delivered", "superseded", "exhausted", "missing"];

const stamp = Type.String({ format: "date-time" });
const stampOrNull = Type.Union([stamp, Type.Null()]);
const failures = ["address_refused", "dns", "tls", "timeout", "connection"];

export const attemptSchema = Type.Object(
  {
    at: stamp,
    tookMs: Type.Integer({ minimum: 0 }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: "null: there was no answer." }),
    failure: Type.Union([Type.String({ enum: failures }), Type.Null()]),
    detail: Type.Union([Type.String(), Type.Null()]),
    answer: Type.String({ description: "Beginning of the answer's body, at most 1 KiB." }),
    replayId: Type.Union([Type.String({ format: "uuid" }), Type.Null()]),
  },
  { additionalProperties: false },
);

export const deliverySchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    endpointId: Type.String({ format: "uuid" }),
    event: Type.String({ enum: eventNames }),
    aboutEndpointId: Type.Union([Type.String({ format: "uuid" }), Type.Null()], {
      description: "The endpoint that the event is about. null: a snapshot.",
    }),
    documentId: Type.Union([Type.String({ format: "uuid" }), Type.Null()], { description: "null: no snapshot." }),
    documentType: Type.Union([Type.String(), Type.Null()], { description: "null: no snapshot." }),
    version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: "Of the document." }),
    sequence: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    webhookId: Type.String(),
    state: Type.String({
      enum: deliveryStates,
      description:
        "held: the endpoint is disabled. superseded: a newer snapshot of the document was delivered, or is not wanted. " +
        "exhausted: given up after three days.",
    }),
    attemptCount: Type.Integer({ minimum: 0 }),
    createdAt: stamp,
    endedAt: stampOrNull,
    nextAttemptAt: stampOrNull,
    lastAttempt: Type.Union([attemptSchema, Type.Null()]),
  },
  { additionalProperties: false },
);

export const requestSchema = Type.Object(
  {
    recomputed: Type.Literal(true, { description: "It is computed from what is there now. No request is stored." }),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), {
      description: "Values of the endpoint's own headers, and of HMACs, are •••.",
    }),
    body: Type.String({ description: "UTF-8, the exact bytes." }),
  },
  { additionalProperties: false },
);

export const replaySchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    endpointId: Type.String({ format: "uuid" }),
    since: stampOrNull,
    until: stamp,
    states: Type.Array(Type.String({ enum: replayStates })),
    latestOnly: Type.Boolean(),
    state: Type.String({ enum: ["running", "done", "cancelled"] }),
    seen: Type.Integer({ minimum: 0 }),
    delivered: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0, description: "Refused four times." }),
    skipped: Type.Integer({ minimum: 0 }),
    reached: stampOrNull,
    createdAt: stamp,
    endedAt: stampOrNull,
  },
  { additionalProperties: false },
);

export const idQuery = { ...documentId, "x-must": "a UUID" };

/** The value of a header `webhook-id`, in a query. */
export const webhookIdQuery = Type.String({
  pattern: "^[A-Za-z0-9_]{1,100}$",
  "x-must": "a webhook-id",
  examples: ["snp_0f6ac51452484d4f671082cecc54af2b_12"],
});

export const stateQuery = Type.String({ enum: deliveryStates, "x-must": `one of ${deliveryStates.join(", ")}` });

export const timeQuery = Type.String({
  examples: ["2026-11-21T09:30:00.000Z"],
  description: "ISO 8601 date or date-time, UTC where it names no offset.",
});

export const deliveryParams = Type.Object({
  id: Type.String({ description: "Of the delivery.", examples: ["8f6b1d0a-90a5-8c1e-9b1e-2f6f0a3d5c77"] }),
});

export const replayParams = Type.Object({
  id: Type.String({ description: "Of the replay.", examples: ["01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77"] }),
});

export const attemptExample = {
  at: "2026-11-21T09:30:00.120Z",
  tookMs: 41,
  status: 500,
  failure: null,
  detail: null,
  answer: "no space left",
  replayId: null,
};

export const deliveryExample = {
  id: "8f6b1d0a-90a5-8c1e-9b1e-2f6f0a3d5c77",
  endpointId: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77",
  event: "snapshot.usable",
  aboutEndpointId: null,
  documentId: "4f7d4c3e-4a9c-4a37-9d0f-6f2b1f0a9e11",
  documentType: "core/article",
  version: 14,
  sequence: 12,
  webhookId: "snp_0f6ac51452484d4f671082cecc54af2b_12",
  state: "pending",
  attemptCount: 1,
  createdAt: "2026-11-21T09:30:00.000Z",
  endedAt: null,
  nextAttemptAt: "2026-11-21T09:30:05.000Z",
  lastAttempt: attemptExample,
};

export const requestExample = {
  recomputed: true,
  url: "https://hooks.example.org/vidimus",
  headers: {
    "x-team": "•••",
    "webhook-id": deliveryExample.webhookId,
    "webhook-signature": "•••",
    "vidimus-event": "snapshot.usable",
    "vidimus-attempt": "1",
  },
  body: '{"id":"snp_0f6ac51452484d4f671082cecc54af2b_12","type":"snapshot.usable"}',
};

export const replayExample = {
  id: "01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77",
  endpointId: deliveryExample.endpointId,
  since: null,
  until: "2026-11-21T09:30:00.000Z",
  states: ["exhausted", "missing"],
  latestOnly: false,
  state: "running",
  seen: 640,
  delivered: 612,
  failed: 0,
  skipped: 28,
  reached: "2026-11-20T17:12:04.000Z",
  createdAt: "2026-11-21T09:30:00.000Z",
  endedAt: null,
};

export const noDelivery = { NOT_FOUND: "there is no such delivery" };
export const noReplay = { NOT_FOUND: "there is no such replay" };
