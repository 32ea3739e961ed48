import type { AnySchemaObject } from "ajv/dist/2020.js";

export type Members = Readonly<Record<string, AnySchemaObject>>;

export const text: AnySchemaObject = { type: "string" };
export const someText: AnySchemaObject = { type: "string", minLength: 1 };
/** ISO 8601 date and time; without an offset it is UTC. */
export const time: AnySchemaObject = { type: "string", format: "iso-date-time" };
/** BCP 47. */
export const language: AnySchemaObject = { type: "string", format: "language-tag" };
/** One path segment of a site's URLs. */
export const slug: AnySchemaObject = { type: "string", format: "slug" };
export const count: AnySchemaObject = { type: "integer", minimum: 0 };
export const flag: AnySchemaObject = { type: "boolean" };
export const number: AnySchemaObject = { type: "number" };
/** A share of a width or height. */
export const fraction: AnySchemaObject = { type: "number", minimum: 0, maximum: 1 };

export function integer(minimum: number, maximum: number): AnySchemaObject {
  return { type: "integer", minimum, maximum };
}

export function oneOf(...words: string[]): AnySchemaObject {
  return { enum: words };
}

/** A media type with the top-level type `top`, for example image/jpeg. */
export function mediaType(top: string): AnySchemaObject {
  return { type: "string", pattern: `^${top}/[\\w.+-]+` };
}

/** An object with known members; further members are allowed. */
export function object(properties: Members, required: readonly string[] = []): AnySchemaObject {
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

export function list(items: AnySchemaObject, minItems = 0): AnySchemaObject {
  return { type: "array", items, ...(minItems > 0 ? { minItems } : {}) };
}

const link: AnySchemaObject = {
  ...object({ rel: someText, type: someText, id: someText, uri: someText, url: someText }, ["rel", "type"]),
  anyOf: [{ required: ["id"] }, { required: ["uri"] }, { required: ["url"] }],
};
const fullLink: AnySchemaObject = {
  ...link,
  properties: { ...link["properties"], title: text, role: text, data: { type: "object" } },
};

const block: AnySchemaObject = object({
  type: someText,
  id: text,
  role: text,
  title: text,
  data: { type: "object" },
  links: { $ref: "#/$defs/links" },
  content: { $ref: "#/$defs/blocks" },
});

const definitions: Members = {
  links: list({ $ref: "#/$defs/link" }),
  link: fullLink,
  blocks: list({ $ref: "#/$defs/block" }),
  block,
};

/** A list of blocks, which may nest. Only schemas of `shape` define what the reference leads to. */
export const blocks: AnySchemaObject = { $ref: "#/$defs/blocks" };

/**
 * The types, ranges and formats of known keys. No key of `meta` or `content` is required; a link
 * needs `rel`, `type` and one of `id`, `uri` and `url`.
 */
export function shape(meta: Members, content: Members): AnySchemaObject {
  return {
    ...object({ title: someText, meta: object(meta), content: object(content), links: { $ref: "#/$defs/links" } }),
    $defs: definitions,
  };
}

/** The rules of a published document beyond its shape. */
export function complete(parts: { meta?: AnySchemaObject; content?: AnySchemaObject }): AnySchemaObject {
  return { type: "object", properties: { ...parts } };
}
