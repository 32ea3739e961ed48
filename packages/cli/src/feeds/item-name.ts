import { printable } from "../terminal/printable.ts";
import { type JsonObject, someText } from "./json.ts";

/** The place of an item and, where it has one, its uri or id: what an operator looks for in the feed. */
export function itemName(place: string, value: JsonObject): string {
  const known = someText(value["uri"]) ?? someText(value["id"]);
  return known ? `${place} (${printable(known)})` : place;
}
