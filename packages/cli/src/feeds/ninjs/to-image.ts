import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { compact } from "../json.ts";
import { isTime, takeCommonMeta, takeRights } from "./common-meta.ts";
import type { Mapping } from "./mapping.ts";
import type { NinjsItem } from "./ninjs-item.ts";
import { takeRenditions } from "./renditions.ts";
import { isPlain, plainIn, takeTitle } from "./texts.ts";

/**
 * Maps a picture to a `core/image`. ninjs has no member for the alternative text: agencies put it
 * into a plain body. Without a plain body the caption is used, else the title.
 */
export function toImage(item: NinjsItem): Mapping {
  const title = takeTitle(item);
  const creditLine = item.roleText("descriptions", plainIn("creditline", "credit"));
  const caption = item.roleText("descriptions", plainIn("caption"), plainIn("text"), plainIn(undefined));
  const alt = item.roleText("bodies", isPlain) ?? caption ?? title;
  const renditions = takeRenditions(item, "image");
  const { edNote, ...common } = takeCommonMeta(item);
  const { holder, notice, usageTerms } = takeRights(item);
  const main = mainRendition(renditions);
  return {
    type: "core/image",
    title,
    meta: compact({
      ...common,
      credit: creditLine ?? credit(common["byline"], holder) ?? common["source"],
      copyright: notice ?? holder,
      copyrightHolder: notice === undefined ? undefined : holder,
      usageTerms,
      instructions: edNote,
      takenAt: item.take("contentCreated", isTime),
      mimeType: main?.["mimeType"],
      filename: main?.["originalFilename"],
    }),
    content: compact({ alt, caption, renditions, focus: focusOf(renditions) }),
  };
}

/** Byline and holder as agencies print them: `Byline/Holder`. */
function credit(byline: unknown, holder: string | undefined): string | undefined {
  const parties = new Set([byline, holder].filter((party) => typeof party === "string"));
  return parties.size > 0 ? [...parties].join("/") : undefined;
}

function mainRendition(renditions: readonly JsonObject[]): JsonObject | undefined {
  return renditions.toSorted((a, b) => widthOf(b) - widthOf(a))[0];
}

function widthOf({ width }: JsonObject): number {
  return typeof width === "number" ? width : 0;
}

/**
 * The point of interest of the first rendition that has one inside the picture, as shares of width
 * and height.
 */
function focusOf(renditions: readonly JsonObject[]): { x: number; y: number } | undefined {
  for (const { poi, width, height } of renditions) {
    if (!isJsonObject(poi)) continue;
    const [x, y] = [Number(poi["x"]) / Number(width), Number(poi["y"]) / Number(height)];
    if (x >= 0 && x <= 1 && y >= 0 && y <= 1) return { x: Number(x.toFixed(4)), y: Number(y.toFixed(4)) };
  }
  return undefined;
}
