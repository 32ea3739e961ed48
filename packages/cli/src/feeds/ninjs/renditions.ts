import type { JsonObject } from "../../json-object.ts";
import { compact, someText } from "../json.ts";
import type { NinjsItem } from "./ninjs-item.ts";

/**
 * From the name of a rendition's member in ninjs to its name in documents; `href` becomes `url`
 * below.
 */
const renamed: Readonly<Record<string, string>> = {
  contentType: "mimeType",
  sizeInBytes: "sizeBytes",
  audioBitRate: "bitrateKbps",
  audioCodec: "codec",
};

const counts = ["width", "height", "sizeInBytes"] as const;

/**
 * Takes the renditions of one medium, with members renamed as documents name them. Leaves
 * renditions of another medium, or with a member of the wrong type.
 */
export function takeRenditions(item: NinjsItem, medium: "image" | "audio"): JsonObject[] {
  return item.list("renditions", (rendition, index) => {
    const { href, name, contentType, ...rest } = rendition;
    const isMedium = typeof contentType === "string" && contentType.toLowerCase().startsWith(`${medium}/`);
    if (typeof href !== "string" || !isMedium || !hasValidMembers(rendition)) return undefined;
    const others = Object.entries({ contentType, ...rest }).map(
      ([key, value]) => [renamed[key] ?? key, value] as const,
    );
    return compact({ name: someText(name) ?? `rendition-${index + 1}`, url: href, ...Object.fromEntries(others) });
  });
}

function hasValidMembers(rendition: JsonObject): boolean {
  const areCounts = counts.every((name) => rendition[name] === undefined || isCount(rendition[name]));
  const { audioBitRate, audioCodec } = rendition;
  const isRate = audioBitRate === undefined || typeof audioBitRate === "number";
  return areCounts && isRate && (audioCodec === undefined || typeof audioCodec === "string");
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
