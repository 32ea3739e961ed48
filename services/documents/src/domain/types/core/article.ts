import type { TypeSchemas } from "../json-schema-type.ts";
import {
  blocks,
  complete,
  integer,
  language,
  list,
  object,
  oneOf,
  shape,
  slug,
  someText,
  text,
  time,
} from "./shapes.ts";

export const article: TypeSchemas = {
  shape: shape(
    {
      slug,
      language,
      newsValue: integer(0, 6),
      slugline: text,
      byline: text,
      teaser: object({ title: text, text }),
      description: text,
      canonicalUrl: text,
      access: oneOf("free", "metered", "paid"),
      embargoUntil: time,
      genre: text,
      edNote: text,
      sites: list(text),
    },
    { blocks, text, html: text },
  ),
  complete: complete({
    meta: object({}, ["slug", "language"]),
    content: object({ blocks: list(object({ type: someText }, ["type"]), 1) }, ["blocks"]),
  }),
};
