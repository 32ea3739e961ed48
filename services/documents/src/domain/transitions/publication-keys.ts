import type { DocumentValue } from "../document/assemble-document.ts";
import { isJsonObject, type JsonValue } from "../json/json-value.ts";
import type { PublicationKeys } from "./changes.ts";

/** Most values of one kind that are indexed for a document; further ones are left out. */
const valuesMax = 100;

/**
 * Reads the values by which readers find a document. Values of another JSON type than expected are
 * left out.
 */
export function publicationKeys(type: string, { meta, links }: Pick<DocumentValue, "meta" | "links">): PublicationKeys {
  const fields = isJsonObject(meta) ? meta : {};
  const slug = text(fields["slug"]);
  const language = text(fields["language"])?.toLowerCase();
  const tags = linkedIds(links, "core/tag");
  const sites = [...linkedIds(links, "core/publisher-site"), ...texts(fields["sites"])];
  const hosts = type === "core/publisher-site" ? texts(fields["hosts"]).map((host) => host.toLowerCase()) : [];
  return {
    ...(slug === undefined ? {} : { slug }),
    ...(language === undefined ? {} : { language }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(sites.length === 0 ? {} : { sites }),
    ...(hosts.length === 0 ? {} : { hosts }),
  };
}

function linkedIds(links: JsonValue, type: string): string[] {
  if (!Array.isArray(links)) return [];
  const ids = links.flatMap((link) => (isJsonObject(link) && link["type"] === type ? [text(link["id"])] : []));
  return distinct(ids.flatMap((id) => (id === undefined ? [] : [id.toLowerCase()])));
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? distinct(value.flatMap((item) => (typeof item === "string" ? [item] : []))) : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].slice(0, valuesMax);
}
