import { Type } from "typebox";

/** Types that `GET /v1/documents` and the publisher reads serve. */
export const publishableTypes = [
  "core/article",
  "core/image",
  "core/audio",
  "core/tag",
  "core/publisher-site",
] as const;

export const documentId = Type.String({
  pattern: "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
  description: "UUID in its 8-4-4-4-12 form, any version, any case; answered in lowercase.",
});

const ofType = "The keys of the type: docs/document-types.md. Others are kept untouched.";

const draftFields = {
  type: Type.String({
    minLength: 1,
    description: "A type the tenant has a schema and a workflow for.",
    examples: ["core/newswire", "core/article"],
  }),
  title: Type.Union([Type.String({ minLength: 1 }), Type.Object({}, { additionalProperties: true })], {
    description: "Plain text, or a rich text document.",
  }),
  meta: Type.Optional(Type.Object({}, { additionalProperties: true, description: ofType })),
  content: Type.Optional(Type.Object({}, { additionalProperties: true, description: ofType })),
  links: Type.Optional(
    Type.Array(Type.Object({}, { additionalProperties: true }), {
      description: "Each {rel, type, id or uri or url, title, role, data}.",
    }),
  ),
};

const ignored = Type.Optional(Type.Unknown({ description: "Ignored: the tenant is the API key's." }));
const tenantIds = { tenant: ignored, tenantId: ignored, tenant_id: ignored };
const updatedAt = Type.Optional(Type.Unknown({ description: "Ignored, so that what was read may come back." }));

/** The flat form of a create request. */
export const draftDocument = Type.Object(
  { id: documentId, ...draftFields, updated_at: updatedAt, ...tenantIds },
  { additionalProperties: false },
);

/** The wrapped form: the platform supplies the id. */
export const wrappedDraft = Type.Object(
  {
    version: Type.Literal(1),
    payload: Type.Object({ ...draftFields, updated_at: updatedAt, ...tenantIds }, { additionalProperties: false }),
    ...tenantIds,
  },
  { additionalProperties: false },
);

/** A published document as `GET /v1/documents` answers it. */
export const documentProjection = Type.Object(
  {
    id: documentId,
    type: Type.Union(publishableTypes.map((type) => Type.Literal(type))),
    title: Type.String(),
    meta: Type.Object(
      { status: Type.Literal("usable"), version: Type.Integer({ minimum: 1 }) },
      { additionalProperties: true },
    ),
    content: Type.Object({}, { additionalProperties: true }),
    updated_at: Type.String({ format: "date-time" }),
  },
  { additionalProperties: false },
);

/** A whole number in a query, matched as text, because coercion would accept `1e2` and `0x10`. */
export function integerText(minimum: number, maximum: number, pattern: string, fallback: number) {
  return Type.String({
    pattern,
    "x-must": `an integer from ${minimum} to ${maximum}`,
    "x-described-as": { type: "integer", minimum, maximum, default: fallback },
  });
}
