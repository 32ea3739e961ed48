import { printable } from "../terminal/printable.ts";
import type { JsonObject } from "../json-object.ts";
import { someText } from "./json.ts";

/** Names an item in messages: its position in the feed and, if it has one, its uri or id. */
export function itemName(position: string, value: JsonObject): string {
  const known = someText(value["uri"]) ?? someText(value["id"]);
  return known ? `${position} (${printable(known)})` : position;
}
