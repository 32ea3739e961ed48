import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { compact, someText } from "../json.ts";
import type { NinjsItem } from "./ninjs-item.ts";

/**
 * Takes what becomes a link: subjects and sources with a uri, and associated items with a uri or
 * with the address of a rendition.
 */
export function takeLinks(item: NinjsItem): JsonObject[] {
  return [
    ...item.list("infoSources", (source) => conceptLink(source, { rel: "source", type: "core/content-source" })),
    ...item.list("subjects", (subject) => conceptLink(subject, { rel: "subject", type: "core/tag" })),
    ...item.list("associations", associationLink),
  ];
}

/**
 * A link to a concept of a controlled vocabulary. The concept's other members become the link's
 * data.
 */
function conceptLink(concept: JsonObject, kind: { rel: string; type: string }): JsonObject | undefined {
  const { uri, name, ...data } = concept;
  const target = someText(uri);
  if (target === undefined) return undefined;
  return compact({ ...kind, uri: target, title: someText(name), data: unlessEmpty(data) });
}

/** From the ninjs type of an associated item to the relation and the type of its link. */
const associationKinds: Readonly<Record<string, { rel: string; type: string }>> = {
  picture: { rel: "image", type: "core/image" },
  graphic: { rel: "image", type: "core/image" },
  audio: { rel: "audio", type: "core/audio" },
  video: { rel: "video", type: "core/video" },
};

function associationLink(association: JsonObject): JsonObject | undefined {
  const { uri, name, ...data } = association;
  const target = someText(uri) ?? firstHref(association["renditions"]);
  if (target === undefined) return undefined;
  const kind = associationKinds[someText(association["type"]) ?? ""] ?? { rel: "related", type: "core/newswire" };
  const where = someText(uri) === undefined ? { url: target } : { uri: target };
  return compact({ ...kind, ...where, title: headlineOf(association), role: someText(name), data: unlessEmpty(data) });
}

function headlineOf({ headlines, title }: JsonObject): string | undefined {
  const list: unknown[] = Array.isArray(headlines) ? headlines : [];
  const values = list.filter(isJsonObject).map(({ value }) => someText(value));
  return values.find(Boolean) ?? someText(title);
}

function firstHref(renditions: unknown): string | undefined {
  const list: unknown[] = Array.isArray(renditions) ? renditions : [];
  return list
    .filter(isJsonObject)
    .map(({ href }) => someText(href))
    .find(Boolean);
}

function unlessEmpty(data: JsonObject): JsonObject | undefined {
  return Object.keys(data).length > 0 ? data : undefined;
}
