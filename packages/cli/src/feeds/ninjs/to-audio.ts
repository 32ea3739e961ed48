import type { JsonObject } from "../../json-object.ts";
import { compact } from "../json.ts";
import { takeCommonMeta, takeRights } from "./common-meta.ts";
import type { Mapping } from "./mapping.ts";
import type { NinjsItem } from "./ninjs-item.ts";
import { takeRenditions } from "./renditions.ts";
import { plainIn, takeTitle } from "./texts.ts";

export function toAudio(item: NinjsItem): Mapping {
  const title = takeTitle(item);
  const creditLine = item.roleText("descriptions", plainIn("creditline", "credit"));
  const description = item.roleText("descriptions", plainIn("caption"), plainIn("text"), plainIn(undefined));
  const streams = takeRenditions(item, "audio");
  const common = takeCommonMeta(item);
  const { holder, notice, usageTerms } = takeRights(item);
  return {
    type: "core/audio",
    title,
    meta: compact({
      ...common,
      credit: creditLine ?? common["source"],
      copyright: notice ?? holder,
      copyrightHolder: notice === undefined ? undefined : holder,
      usageTerms,
      mimeType: streams[0]?.["mimeType"],
    }),
    content: compact({ description, streams, durationMs: streams.map(durationMs).find((ms) => ms !== undefined) }),
  };
}

/** No codec that agencies use has a lower bit rate. */
const bitsPerSecondMin = 1_000;

/**
 * ninjs has seconds, but some agencies send milliseconds. The bit rate that follows from the
 * stream's size tells which of the two it is.
 */
export function durationMs({ duration, sizeBytes }: JsonObject): number | undefined {
  if (typeof duration !== "number" || !(duration > 0)) return undefined;
  const isMilliseconds = typeof sizeBytes === "number" && (sizeBytes * 8) / duration < bitsPerSecondMin;
  return Math.round(isMilliseconds ? duration : duration * 1000);
}
