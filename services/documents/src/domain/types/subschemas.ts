import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";

/** Where a keyword's value has schemas in it: it is one, a list of them, or an object of them. */
type Place = "one" | "list" | "map";

/** Keywords whose schemas are applied to the same value. */
const inPlace: ReadonlyMap<string, Place> = new Map([
  ["not", "one"],
  ["if", "one"],
  ["then", "one"],
  ["else", "one"],
  ["allOf", "list"],
  ["anyOf", "list"],
  ["oneOf", "list"],
  ["dependentSchemas", "map"],
  ["dependencies", "map"],
]);

/**
 * Keywords whose schemas are applied to a member or an item, or to nothing until something refers
 * to them.
 */
const deeper: ReadonlyMap<string, Place> = new Map([
  ["additionalProperties", "one"],
  ["unevaluatedProperties", "one"],
  ["propertyNames", "one"],
  ["items", "one"],
  ["additionalItems", "one"],
  ["unevaluatedItems", "one"],
  ["contains", "one"],
  ["contentSchema", "one"],
  ["prefixItems", "list"],
  ["properties", "map"],
  ["patternProperties", "map"],
  ["$defs", "map"],
  ["definitions", "map"],
]);

/** The schemas in a schema that are applied to the same value as it is. */
export function subschemasInPlace(schema: JsonObject): JsonObject[] {
  return schemasUnder(schema, inPlace);
}

/** All schemas directly in a schema. */
export function subschemas(schema: JsonObject): JsonObject[] {
  return [...schemasUnder(schema, inPlace), ...schemasUnder(schema, deeper)];
}

function schemasUnder(schema: JsonObject, places: ReadonlyMap<string, Place>): JsonObject[] {
  return Object.keys(schema).flatMap((keyword) => {
    const place = places.get(keyword);
    return place === undefined ? [] : valuesAt(place, schema[keyword]).filter(isJsonObject);
  });
}

function valuesAt(place: Place, value: JsonValue | undefined): JsonValue[] {
  if (value === undefined) return [];
  if (place === "one") return [value];
  if (place === "list") return Array.isArray(value) ? value : [];
  return isJsonObject(value) ? Object.values(value) : [];
}
