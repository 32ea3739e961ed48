import type { TypeSchemas } from "../json-schema-type.ts";
import { complete, count, fraction, list, mediaType, object, shape, slug, someText, text, time } from "./shapes.ts";

export const image: TypeSchemas = {
  shape: shape(
    {
      credit: text,
      filename: text,
      mimeType: mediaType("image"),
      usageTerms: text,
      instructions: text,
      byline: text,
      slug,
      takenAt: time,
      digitalSourceType: text,
    },
    {
      alt: text,
      caption: text,
      renditions: list(
        object({ name: text, url: text, mimeType: text, width: count, height: count, sizeBytes: count, sha256: text }),
      ),
      focus: object({ x: fraction, y: fraction }),
      crop: object({ x: fraction, y: fraction, w: fraction, h: fraction }),
    },
  ),
  complete: complete({
    meta: object({ credit: someText }, ["credit"]),
    content: object({ alt: someText, renditions: list(object({ url: someText }, ["url"]), 1) }, ["alt", "renditions"]),
  }),
};
