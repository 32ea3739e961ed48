import { Refusal } from "../draft.ts";
import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { compact, someText } from "../json.ts";
import { versionOf } from "./item-id.ts";
import type { NinjsItem } from "./ninjs-item.ts";
import { sourceName } from "./source-name.ts";

export function takeCommonMeta(item: NinjsItem): Record<string, unknown> {
  const source = sourceName(item.uri, item.original);
  const meta = compact({
    source,
    origin: "ninjs",
    externalId: item.uri,
    externalVersion: versionOf(item.original),
    issuedAt: item.take("versionCreated", isTime),
    firstCreatedAt: item.take("firstCreated", isTime),
    embargoUntil: takeEmbargo(item),
    expiresAt: item.take("expires", isTime),
    urgency: item.take("urgency", isUrgency),
    language: item.take("language", isLanguage),
    slugline: item.text("slugline"),
    located: item.text("located"),
    byline: item.text("by"),
    edNote: item.text("edNote"),
    genres: takeGenres(item),
  });
  item.take("uri", isAnything);
  item.take("version", isAnything);
  item.list("infoSources", (entry) =>
    Object.keys(entry).length === 1 && entry["name"] === source ? entry : undefined,
  );
  return meta;
}

export function takeRights(item: NinjsItem): { holder?: string; notice?: string; usageTerms?: string } {
  return compact({
    holder: item.text("copyrightHolder"),
    notice: item.text("copyrightNotice"),
    usageTerms: item.text("usageTerms"),
  });
}

/**
 * Refuses an item whose embargo cannot be read, because a document without its embargo could be
 * published too early.
 */
function takeEmbargo(item: NinjsItem): string | undefined {
  const until = item.take("embargoed", isAnything);
  if (until === undefined || until === null || isTime(until)) return until ?? undefined;
  throw new Refusal(`is embargoed until ${JSON.stringify(until)}, which is no date and time`, { unmappable: false });
}

/**
 * The name of each genre, else its literal, else its uri. A genre with a member other than `name`
 * also stays in `meta.ninjs`.
 */
function takeGenres(item: NinjsItem): string[] | undefined {
  const genres: unknown = item.original["genres"];
  item.list("genres", (genre) => (Object.keys(genre).length === 1 && someText(genre["name"]) ? genre : undefined));
  if (!Array.isArray(genres)) return undefined;
  const names = genres.filter(isJsonObject).flatMap(nameOfGenre);
  return names.length > 0 ? names : undefined;
}

function nameOfGenre({ name, literal, uri }: JsonObject): string[] {
  const found = someText(name) ?? someText(literal) ?? someText(uri);
  return found === undefined ? [] : [found];
}

/** Whether a value is a time as ninjs writes it: date, time and offset. */
export function isTime(value: unknown): value is string {
  if (typeof value !== "string") return false;
  try {
    Temporal.Instant.from(value);
    return true;
  } catch {
    return false;
  }
}

function isUrgency(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 9;
}

function isLanguage(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(value);
}

function isAnything(_value: unknown): _value is unknown {
  return true;
}
