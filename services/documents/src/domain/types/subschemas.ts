import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";

/**
 * How a keyword's value holds schemas: the value is a schema, a list of schemas, or an object whose
 * members are schemas.
 */
type Nesting = "one" | "list" | "map";

/** Keywords whose schemas apply to the same value as the schema that has the keyword. */
const inPlace: ReadonlyMap<string, Nesting> = new Map([
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

/** Keywords whose schemas apply to a part of the value, or only when a reference leads to them. */
const deeper: ReadonlyMap<string, Nesting> = new Map([
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

/** The schemas directly in `schema` that apply to the same value as `schema` does. */
export function subschemasInPlace(schema: JsonObject): JsonObject[] {
  return schemasUnder(schema, inPlace);
}

/** All schemas directly in a schema, without `true` and `false`. */
export function subschemas(schema: JsonObject): JsonObject[] {
  return [...schemasUnder(schema, inPlace), ...schemasUnder(schema, deeper)];
}

function schemasUnder(schema: JsonObject, nestings: ReadonlyMap<string, Nesting>): JsonObject[] {
  return Object.keys(schema).flatMap((keyword) => {
    const nesting = nestings.get(keyword);
    return nesting === undefined ? [] : valuesAt(nesting, schema[keyword]).filter(isJsonObject);
  });
}

function valuesAt(nesting: Nesting, value: JsonValue | undefined): JsonValue[] {
  if (value === undefined) return [];
  if (nesting === "one") return [value];
  if (nesting === "list") return Array.isArray(value) ? value : [];
  return isJsonObject(value) ? Object.values(value) : [];
}
