import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { subschemas, subschemasInPlace } from "./subschemas.ts";

/**
 * Most schemas that may apply to one value. A schema of 256 KiB exceeds this only when references
 * multiply, or when it lists more than 10,000 nearly empty schemas.
 */
export const appliedSchemasMax = 10_000;

/**
 * Checks that a bounded number of schemas applies to every value, however references are nested. A
 * schema may refer to itself from a member or an item, as a tree does, because the document's depth
 * limits that.
 *
 * @throws Error that names the fault: more than `appliedSchemasMax` schemas for one value, a schema
 * that refers to itself for the same value, a reference that does not begin with `#` or leads
 * nowhere, an `$id` below the top
 */
export function boundReferences(root: JsonObject): void {
  const references = new References(root);
  for (const schema of references.all) references.applied(schema);
}

class References {
  /** The schemas found so far. `applied` may add some while `boundReferences` iterates. */
  readonly all = new Set<JsonObject>();
  readonly #root: JsonObject;
  readonly #anchors = new Map<string, JsonObject[]>();
  readonly #applied = new Map<JsonObject, number>();

  constructor(root: JsonObject) {
    this.#root = root;
    this.#collect(root);
  }

  /** How many schemas apply to a value to which `schema` applies, `schema` included. */
  applied(schema: JsonObject): number {
    const known = this.#applied.get(schema);
    if (known === 0) throw new Error("it refers to itself for the same value, for ever");
    if (known !== undefined) return known;
    this.#applied.set(schema, 0);
    let count = 1;
    for (const next of [...subschemasInPlace(schema), ...this.#referred(schema)]) count += this.applied(next);
    if (count > appliedSchemasMax) {
      throw new Error(`one value would be checked against more than ${appliedSchemasMax} schemas`);
    }
    this.#applied.set(schema, count);
    return count;
  }

  #collect(schema: JsonObject): void {
    if (this.all.has(schema)) return;
    this.all.add(schema);
    // An `$id` below the top would change the base of the references in its schema.
    if (schema !== this.#root && Object.hasOwn(schema, "$id")) throw new Error("$id may stand at the top only");
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = schema[keyword];
      if (typeof name === "string") this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), schema]);
    }
    for (const next of subschemas(schema)) this.#collect(next);
  }

  /**
   * The schemas to which the references in a schema may lead; a dynamic one may lead to every
   * anchor of its name.
   */
  #referred(schema: JsonObject): JsonObject[] {
    return ["$ref", "$dynamicRef", "$recursiveRef"].flatMap((keyword) => {
      const reference = schema[keyword];
      return typeof reference === "string" ? this.#targets(reference) : [];
    });
  }

  #targets(reference: string): JsonObject[] {
    if (!reference.startsWith("#")) throw new Error(`reference "${reference}" does not begin with #`);
    const fragment = decodeURIComponent(reference.slice(1));
    const anchored = this.#anchors.get(fragment);
    if (anchored) return anchored;
    const target = fragment === "" || fragment.startsWith("/") ? valueAt(this.#root, fragment) : undefined;
    if (target === undefined) throw new Error(`reference "${reference}" leads nowhere`);
    // The schemas `true` and `false` contain no references.
    if (!isJsonObject(target)) return [];
    // The target may be where no schema was looked for, for example under `examples`.
    this.#collect(target);
    return [target];
  }
}

function valueAt(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = isJsonObject(value) ? value[name] : value[Number(name)];
  }
  return value;
}
