import { Type } from "typebox";
import { documentId, documentProjection } from "../schemas.ts";

/** Collections by their `name` in publisher paths; `one` is for operation ids. */
export const collections = [
  { name: "articles", one: "Article", type: "core/article" },
  { name: "images", one: "Image", type: "core/image" },
  { name: "audio", one: "Audio", type: "core/audio" },
  { name: "tags", one: "Tag", type: "core/tag" },
  { name: "sites", one: "Site", type: "core/publisher-site" },
] as const;

/** A document as publisher reads show it: as in `GET /v1/documents`, with its links. */
export const publishedDocument = Type.Object(
  {
    ...documentProjection.properties,
    links: Type.Array(Type.Object({ rel: Type.String(), type: Type.String() }, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

export const idParameter = {
  ...documentId,
  "x-must": "a UUID",
  examples: ["4f7d4c3e-4a9c-4a37-9d0f-6f2b1f0a9e11"],
};

export const versionNumber = Type.Integer({ minimum: 1 });

/** Position of a snapshot among those of its document, counted from 1. */
export const sequenceNumber = Type.Integer({ minimum: 1 });

/** SHA-256 in hex. */
export const digest = Type.String({ pattern: "^[0-9a-f]{64}$" });

export const documentExample = {
  content: { blocks: [{ data: { html: "No boat today." }, type: "core/text" }] },
  id: "4f7d4c3e-4a9c-4a37-9d0f-6f2b1f0a9e11",
  links: [{ id: "0b8f2f9e-6f0a-4f43-8f5e-0d8d8f0c2a51", rel: "subject", type: "core/tag" }],
  meta: { language: "en", slug: "ferry-cancelled", status: "usable", version: 7 },
  title: "Ferry cancelled",
  type: "core/article",
  updated_at: "2026-11-21T09:30:00.000Z",
};

/** Example errors for reading a document that was never published, or that is withdrawn. */
export const absence = {
  NOT_FOUND: `there is no published document ${documentExample.id}`,
  GONE: `document ${documentExample.id} was withdrawn`,
};
