import { type Draft, Refusal } from "../draft.ts";
import type { JsonObject } from "../../json-object.ts";
import { someText } from "../json.ts";
import { itemId } from "./item-id.ts";
import { takeLinks } from "./links.ts";
import type { Mapping } from "./mapping.ts";
import { NinjsItem } from "./ninjs-item.ts";
import { toAudio } from "./to-audio.ts";
import { toImage } from "./to-image.ts";
import { toNewswire } from "./to-newswire.ts";

const mappings: Readonly<Record<string, (item: NinjsItem) => Mapping>> = {
  text: toNewswire,
  composite: toNewswire,
  picture: toImage,
  audio: toAudio,
};

/**
 * Makes a document of a ninjs 3.0 item. Members without a counterpart go unchanged into
 * `meta.ninjs`.
 *
 * @throws Refusal for an unsupported type of item, or a damaged item
 */
export function toDraft(original: JsonObject): Draft {
  const uri = someText(original["uri"]);
  if (uri === undefined) throw new Refusal("has no uri", { unmappable: false });
  const map = mappingOf(original);
  const item = new NinjsItem(uri, original);
  const { type, title, meta, content } = map(item);
  const links = takeLinks(item);
  const rest = leftovers(item.rest(), title);
  const ninjs = Object.keys(rest).length > 0 ? { ninjs: rest } : {};
  return { id: itemId(uri, original), type, title, meta: { ...meta, ...ninjs }, content, links };
}

function mappingOf({ type, bodies }: JsonObject): (item: NinjsItem) => Mapping {
  if (type === undefined || type === null) {
    if (Array.isArray(bodies) && bodies.length > 0) return toNewswire;
    throw unmappable("has no type and no bodies");
  }
  const map = typeof type === "string" && Object.hasOwn(mappings, type) ? mappings[type] : undefined;
  if (map) return map;
  throw unmappable(`is of type ${JSON.stringify(type)}; taken are text, composite, picture and audio`);
}

/**
 * Leaves out the type, except for `composite`, which the document's type does not tell; a title
 * that the document has already; and `pubStatus: "usable"`, the default.
 */
function leftovers(rest: JsonObject, title: unknown): JsonObject {
  const { type, title: name, pubStatus, ...others } = rest;
  return {
    ...(type === "composite" ? { type } : {}),
    ...(name === undefined || name === title ? {} : { title: name }),
    ...(pubStatus === undefined || pubStatus === "usable" ? {} : { pubStatus }),
    ...others,
  };
}

function unmappable(reason: string): Refusal {
  return new Refusal(reason, { unmappable: true });
}
