import { normalHost } from "../sites/host-name.ts";
import { siteType } from "../sites/site-type.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";

/** The parts of a document from which keys are read. */
interface KeyedDocument {
  readonly type: string;
  readonly meta: JsonObject;
  readonly links: JsonValue;
}

/** A key by which readers find published documents: a column of `publications`, with its index. */
interface PublicationKey {
  /** The value in a document, with `many` a list; `valueIn` drops what is no string. */
  read(document: KeyedDocument): JsonValue | undefined;
  /** Whether a document has several values, of which the first 100 count. */
  readonly many: boolean;
  /** The form in which values are stored and compared; "" for an invalid value. */
  normalize(value: string): string;
  /**
   * `unique`: no two published documents of a type have the same value. `newestFirst`: has the
   * order of pages. `plain`: has no order, for keys without `filter`.
   */
  readonly index: "unique" | "newestFirst" | "plain";
  /** Whether pages can be filtered by the key. */
  readonly filter: boolean;
  /**
   * Set when values name documents of a type: by id, or with `bySlug` by id or slug. Readers may
   * ask by id or slug in both cases.
   */
  readonly refersTo?: { readonly type: string; readonly bySlug: boolean };
}

const asIs = (value: string) => value;
const lowercase = (value: string) => value.toLowerCase();
const tagType = "core/tag";

/**
 * Every key, the narrowest first: a page with several filters is read from the index of the first
 * one. Columns, indexes, filters, entity tags and the mapping of requests follow from this table.
 * Rows that are stored already do not change with the table: see
 * `store/documents-database-version.ts`.
 */
const publicationKeys = {
  slug: { read: ({ meta }) => meta["slug"], many: false, normalize: asIs, index: "unique", filter: true },
  host: {
    read: ({ type, meta }) => (type === siteType ? meta["hosts"] : undefined),
    many: true,
    normalize: (host) => normalHost(host) ?? "",
    index: "plain",
    filter: false,
  },
  primary: {
    read: ({ type, meta }) => (type === siteType && meta["primary"] === true ? "true" : undefined),
    many: false,
    normalize: asIs,
    index: "plain",
    filter: false,
  },
  tag: {
    read: ({ links }) => linkedIds(links, tagType),
    many: true,
    normalize: asIs,
    index: "newestFirst",
    filter: true,
    refersTo: { type: tagType, bySlug: false },
  },
  site: {
    read: ({ links, meta }) => [...linkedIds(links, siteType), ...listOf(meta["sites"])],
    many: true,
    normalize: asIs,
    index: "newestFirst",
    filter: true,
    refersTo: { type: siteType, bySlug: true },
  },
  language: {
    read: ({ meta }) => meta["language"],
    many: false,
    normalize: lowercase,
    index: "newestFirst",
    filter: true,
  },
} as const satisfies Readonly<Record<string, PublicationKey>>;

type Table = typeof publicationKeys;
export type KeyName = keyof Table;
export type FilterName = { [Name in KeyName]: Table[Name]["filter"] extends true ? Name : never }[KeyName];

/** From key to the document's value, or values, of this key; undefined where it has none. */
export type PublicationKeys = {
  readonly [Name in KeyName]: (Table[Name]["many"] extends true ? readonly string[] : string) | undefined;
};

export function keyNamed(name: KeyName): PublicationKey {
  return publicationKeys[name];
}

function isKeyName(name: string): name is KeyName {
  return Object.hasOwn(publicationKeys, name);
}

/** The names of all keys, the narrowest first. */
export const keyNames: readonly KeyName[] = Object.keys(publicationKeys).filter(isKeyName);

function isFilterName(name: KeyName): name is FilterName {
  return publicationKeys[name].filter;
}

/** The names of the keys by which pages can be filtered, the narrowest first. */
export const filterNames: readonly FilterName[] = keyNames.filter(isFilterName);

export function mapFilters<Value>(valueOf: (name: FilterName) => Value): Record<FilterName, Value> {
  // `filterNames` contains every `FilterName`, so the record is complete.
  return Object.fromEntries(filterNames.map((name) => [name, valueOf(name)])) as Record<FilterName, Value>;
}

/** Most values of one key of a document that are indexed. */
const valuesMax = 100;
/** Longest value in characters; a longer one is left out, because it would bloat its index. */
const charactersMax = 1_024;

export function readKeys(type: string, { meta, links }: { meta: JsonValue; links: JsonValue }): PublicationKeys {
  const document = { type, meta: isJsonObject(meta) ? meta : {}, links };
  const values = keyNames.map((name) => [name, valueIn(keyNamed(name), document)]);
  // Each value is a list exactly when `many` of its key says so.
  return Object.fromEntries(values) as PublicationKeys;
}

function valueIn({ read, many, normalize }: PublicationKey, document: KeyedDocument): PublicationKeys[KeyName] {
  const found = read(document);
  const texts = (many ? listOf(found) : [found]).flatMap((value) => {
    return typeof value === "string" && value.length <= charactersMax ? normalize(value) || [] : [];
  });
  if (!many) return texts[0];
  return texts.length === 0 ? undefined : [...new Set(texts)].slice(0, valuesMax);
}

function linkedIds(links: JsonValue, type: string): string[] {
  const ids = listOf(links).flatMap((link) => (isJsonObject(link) && link["type"] === type ? [link["id"]] : []));
  return ids.flatMap((id) => (typeof id === "string" && id !== "" ? [id.toLowerCase()] : []));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
