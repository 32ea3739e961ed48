import { compact } from "../json.ts";
import { takeCommonMeta, takeRights } from "./common-meta.ts";
import type { Mapping } from "./mapping.ts";
import type { NinjsItem } from "./ninjs-item.ts";
import { isHtml, isPlain, plainIn, takeTitle } from "./texts.ts";

/** Maps an item of type text or composite, or one without a type, to a `core/newswire`. */
export function toNewswire(item: NinjsItem): Mapping {
  const title = takeTitle(item);
  const html = item.roleText("bodies", isHtml);
  const text = item.roleText("bodies", isPlain);
  const summary = item.roleText("descriptions", plainIn("lead", "summary", "text"), plainIn(undefined));
  const isBodiless = html === undefined && text === undefined;
  const rights = takeRights(item);
  return {
    type: "core/newswire",
    title,
    meta: compact({
      ...takeCommonMeta(item),
      description: isBodiless ? undefined : summary,
      copyright: Object.keys(rights).length > 0 ? rights : undefined,
    }),
    content: compact({ html, text: isBodiless ? summary : text }),
  };
}
