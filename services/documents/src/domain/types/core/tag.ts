import type { TypeSchemas } from "../json-schema-type.ts";
import { complete, language, object, oneOf, shape, slug, text } from "./shapes.ts";

/** `core/tag`: a subject of documents. */
export const tag: TypeSchemas = {
  shape: shape(
    { slug, kind: oneOf("topic", "place", "person", "organisation", "keyword"), scheme: text, code: text, language },
    { name: text, description: text, definition: object({ short: text, long: text }) },
  ),
  complete: complete({ meta: object({}, ["slug"]) }),
};
