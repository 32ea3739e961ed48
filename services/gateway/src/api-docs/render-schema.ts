import { text } from "./html.ts";

/** The keywords of JSON Schema that the pages show; the API description uses a few more. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A schema as nested lists: the type of a value, its bounds, and the members of objects. */
export function renderSchema(schema: Schema): string {
  return `<p><span class="kind">${text(kindOf(schema))}</span> ${text(schema.description ?? "")}</p>${inner(schema)}`;
}

/** The type of a value and its bounds, in words. */
export function kindOf(schema: Schema): string {
  const { anyOf, items } = schema;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return `one of ${schema.enum.map(String).join(", ")}`;
  if (anyOf?.every((each) => "const" in each)) return `one of ${anyOf.map((each) => String(each.const)).join(", ")}`;
  if (anyOf) return [...new Set(anyOf.map(kindOf))].join(" or ");
  const type = [schema.type ?? "anything"].flat().join(" or ");
  const kind = items ? `array of ${plural(kindOf(items))}` : type;
  return [kind, ...boundsOf(schema)].join(", ");
}

function plural(kind: string): string {
  return /^(string|object|integer|number)$/.test(kind) ? `${kind}s` : `(${kind})`;
}

function boundsOf(schema: Schema): string[] {
  const { format, pattern, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    format,
    ...range(minimum, maximum, ""),
    ...(minLength === 1 && maxLength === undefined ? ["not empty"] : range(minLength, maxLength, " characters")),
    ...range(minItems, maxItems, " items"),
    pattern && `matches ${pattern}`,
    "default" in schema ? `default ${JSON.stringify(schema.default)}` : undefined,
  ].filter((bound) => bound !== undefined);
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}

/** The members of an object, of an array's items, or of each alternative that has any. */
function inner({ properties, required = [], items, anyOf }: Schema): string {
  if (items) return inner(items);
  const alternatives = (anyOf ?? []).map(inner).filter((list) => list !== "");
  if (alternatives.length > 0) return alternatives.join('<p class="kind">or</p>');
  const members = Object.entries(properties ?? {}).map(([name, schema]) => {
    const kind = `${kindOf(schema)}${required.includes(name) ? ", required" : ""}`;
    const said = `<code>${text(name)}</code> <span class="kind">${text(kind)}</span> ${text(schema.description ?? "")}`;
    return `<li>${said}${inner(schema)}</li>`;
  });
  return members.length > 0 ? `<ul class="members">${members.join("")}</ul>` : "";
}
