import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { someText } from "../json.ts";

/**
 * The source of an item: the name or literal of the first of its infoSources with either, else the
 * copyright holder, else the byline, else the authority in its uri; undefined without any of them.
 */
export function sourceName(uri: string, item: JsonObject): string | undefined {
  const sources: unknown[] = Array.isArray(item["infoSources"]) ? item["infoSources"] : [];
  const named = sources.filter(isJsonObject).map(({ name, literal }) => someText(name) ?? someText(literal));
  return named.find(Boolean) ?? someText(item["copyrightHolder"]) ?? someText(item["by"]) ?? authorityOf(uri);
}

/**
 * The host and port in a URL, the provider in a NewsML URN (RFC 3085), or the tagging entity in a
 * tag URI (RFC 4151); undefined for any other uri.
 */
function authorityOf(uri: string): string | undefined {
  const found = /^urn:newsml:([^:]+):|^tag:([^:,]+),|^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]+)/i.exec(uri);
  return found?.slice(1).find(Boolean);
}
