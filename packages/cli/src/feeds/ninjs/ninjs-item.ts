import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { someText } from "../json.ts";

/** An entry of an item's headlines, descriptions or bodies; entries differ in role and format. */
export interface RoleText {
  readonly role: string | undefined;
  /** Lowercase media type without parameters. */
  readonly contentType: string | undefined;
  readonly value: string;
  /** The whole entry of the item's list from which the text was read. */
  readonly original: JsonObject;
}

/**
 * A ninjs item from which a mapping takes the members that it knows. `rest()` returns the members
 * that were not taken, so that the document can keep them.
 */
export class NinjsItem {
  readonly uri: string;
  readonly original: JsonObject;
  readonly #rest: Map<string, unknown>;

  constructor(uri: string, original: JsonObject) {
    this.uri = uri;
    this.original = original;
    this.#rest = new Map(Object.entries(original));
  }

  /**
   * Takes a text. Also takes an empty text, for which it returns undefined. Leaves a value that is
   * no text.
   */
  text(member: string): string | undefined {
    const value = this.#rest.get(member);
    if (typeof value === "string") this.#rest.delete(member);
    return someText(value);
  }

  take<T>(member: string, test: (value: unknown) => value is T): T | undefined {
    const value = this.#rest.get(member);
    if (!test(value)) return undefined;
    this.#rest.delete(member);
    return value;
  }

  /** Takes those objects of a list for which `map` returns something, and leaves the others. */
  list<T>(member: string, map: (value: JsonObject, index: number) => T | undefined): T[] {
    const value = this.#rest.get(member);
    if (!Array.isArray(value)) return [];
    const left: unknown[] = [];
    const taken = value.flatMap((entry: unknown, index) => {
      const mapped = isJsonObject(entry) ? map(entry, index) : undefined;
      if (mapped === undefined) left.push(entry);
      return mapped === undefined ? [] : [mapped];
    });
    if (left.length > 0) this.#rest.set(member, left);
    else this.#rest.delete(member);
    return taken;
  }

  /**
   * Takes a text of headlines, descriptions or bodies: the first one that satisfies the first wish,
   * else the first one that satisfies the second, and so on.
   */
  roleText(member: string, ...wishes: readonly ((text: RoleText) => boolean)[]): string | undefined {
    const texts = readTexts(this.#rest.get(member));
    const found = wishes.map((wish) => texts.find(wish)).find(Boolean);
    if (found) this.list(member, (entry) => (entry === found.original ? entry : undefined));
    return found?.value;
  }

  rest(): JsonObject {
    return Object.fromEntries(this.#rest);
  }
}

function readTexts(list: unknown): RoleText[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap((original) => {
    const value = someText(original["value"]);
    const contentType = someText(original["contentType"])?.split(";")[0]?.trim().toLowerCase();
    return value === undefined ? [] : [{ role: someText(original["role"]), contentType, value, original }];
  });
}
