import type { TypeSchemas } from "../json-schema-type.ts";
import {
  blocks,
  complete,
  count,
  flag,
  language,
  list,
  mediaType,
  number,
  object,
  shape,
  slug,
  someText,
  text,
} from "./shapes.ts";

export const audio: TypeSchemas = {
  shape: shape(
    {
      credit: text,
      mimeType: mediaType("audio"),
      language,
      slug,
      episode: object({ season: count, number: count }),
      explicit: flag,
    },
    {
      streams: list(object({ url: text, mimeType: text, bitrateKbps: number, codec: text, sizeBytes: count })),
      durationMs: { type: "number", minimum: 0 },
      transcript: object({ blocks }),
      chapters: list(object({ startMs: { type: "number", minimum: 0 }, title: text })),
      description: text,
    },
  ),
  complete: complete({
    content: object({ streams: list(object({ url: someText }, ["url"]), 1) }, ["streams", "durationMs"]),
  }),
};
