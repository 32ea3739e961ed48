import type { TypeSchemas } from "../json-schema-type.ts";
import { blocks, complete, integer, language, list, number, object, oneOf, shape, text, time } from "./shapes.ts";

/**
 * `core/newswire`: an item of an agency's feed. It has no rules for publication, because it is
 * passed on unchanged.
 */
export const newswire: TypeSchemas = {
  shape: shape(
    {
      source: text,
      origin: text,
      priority: number,
      urgency: integer(1, 9),
      kind: oneOf("article", "pressrelease", "alert", "advisory"),
      issuedAt: time,
      firstCreatedAt: time,
      embargoUntil: time,
      expiresAt: time,
      externalId: text,
      externalVersion: text,
      language,
      slugline: text,
      located: text,
      byline: text,
      edNote: text,
      copyright: object({ holder: text, notice: text, usageTerms: text }),
      genres: list(text),
    },
    { blocks, text, html: text },
  ),
  complete: complete({}),
};
