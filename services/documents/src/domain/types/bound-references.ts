import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";
import { subschemas, subschemasInPlace } from "./subschemas.ts";

/**
 * Most schemas that may apply to one value. A schema of 256 KiB comes near only where references
 * multiply them.
 */
export const appliedSchemasMax = 10_000;

/**
 * Makes sure that every value meets a bounded number of schemas, however references are nested. A
 * schema may refer to itself from a member or an item, as a tree does: the document's size ends
 * that.
 *
 * @throws Error that names the fault: more than `appliedSchemasMax` schemas for one value, a schema
 *   that refers to itself for the same value, a reference that does not begin with `#`, an `$id`
 *   below the top
 */
export function boundReferences(root: JsonObject): void {
  const references = new References(root);
  for (const schema of references.all) references.applied(schema);
}

class References {
  /** Grows while it is walked. */
  readonly all = new Set<JsonObject>();
  readonly #root: JsonObject;
  readonly #anchors = new Map<string, JsonObject[]>();
  readonly #applied = new Map<JsonObject, number>();

  constructor(root: JsonObject) {
    this.#root = root;
    this.#collect(root);
  }

  /** How many schemas apply to a value that this one applies to. */
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
    // Below it, references would start from there.
    if (schema !== this.#root && Object.hasOwn(schema, "$id")) throw new Error("$id may stand at the top only");
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = schema[keyword];
      if (typeof name === "string") this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), schema]);
    }
    for (const next of subschemas(schema)) this.#collect(next);
  }

  /** What the references of a schema may mean; a dynamic one may mean every anchor of its name. */
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
    // `true` and `false` are schemas too, and refer to nothing.
    if (!isJsonObject(target)) return [];
    // It may stand where no schema was looked for, under `examples` say.
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
