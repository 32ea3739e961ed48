import { printable } from "../terminal/printable.ts";
import type { JsonObject } from "../json-object.ts";
import { someText } from "./json.ts";

/** Names an item in messages: its place in the feed and, if it has one, its uri or id. */
export function itemName(place: string, value: JsonObject): string {
  const known = someText(value["uri"]) ?? someText(value["id"]);
  return known ? `${place} (${printable(known)})` : place;
}
