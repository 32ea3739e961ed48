/** A fault as a JSON Schema validator (ajv, TypeBox) reports it. */
export interface SchemaFault {
  readonly keyword: string;
  readonly params: object;
  /**
   * The schema that has the keyword. Its `x-must` completes "must be …", for example where people
   * would not understand a pattern.
   */
  readonly schema?: unknown;
  /** The validator's own message, for keywords that `describeFault` does not know. */
  readonly message?: string | undefined;
}

/** Describes a fault by a sentence without a subject, for example `must be a string`. */
export function describeFault({ keyword, params, schema, message }: SchemaFault): string {
  const must = memberOf(schema, "x-must");
  if (typeof must === "string") return `must be ${must}`;
  return sentences[keyword]?.(params, schema) ?? message?.toWellFormed() ?? "is not valid";
}

type Sentence = (params: object, schema: unknown) => string | undefined;

const sentences: Readonly<Record<string, Sentence>> = {
  enum: (params) => oneOf(memberOf(params, "allowedValues")),
  const: (params) => `must be ${JSON.stringify(memberOf(params, "allowedValue"))}`,
  type: (params) => `must be ${[memberOf(params, "type")].flat().map(kindOf).join(" or ")}`,
  required: (params) => {
    const names = [memberOf(params, "missingProperty") ?? memberOf(params, "requiredProperties")];
    return `lacks ${quoted(names.flat())}`;
  },
  additionalProperties: (params, schema) => {
    const names = [memberOf(params, "additionalProperty") ?? memberOf(params, "additionalProperties")];
    return `knows no ${quoted(names.flat())}${knownMembers(schema)}`;
  },
  "false schema": () => "is not allowed here",
  ...ranges("must be from", "must be", "minimum", "maximum", ""),
  ...ranges("must have", "must have", "minLength", "maxLength", "character"),
  ...ranges("must have", "must have", "minItems", "maxItems", "item"),
  ...ranges("must have", "must have", "minProperties", "maxProperties", "member"),
};

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  null: "null",
};

function kindOf(type: unknown): string {
  return kinds[String(type)] ?? String(type);
}

function oneOf(values: unknown): string | undefined {
  if (!Array.isArray(values)) return undefined;
  const shown = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return `must be ${shown.length > 1 ? "one of " : ""}${shown.join(", ")}`;
}

function quoted(names: readonly unknown[]): string {
  return names.map((name) => JSON.stringify(name)?.toWellFormed()).join(", ");
}

/**
 * Where a pattern decides which members are allowed, the schema's `x-names` describes their names.
 */
function knownMembers(schema: unknown): string {
  const rule = memberOf(schema, "x-names");
  if (typeof rule === "string") return `: names must be ${rule}`;
  const properties = memberOf(schema, "properties");
  if (typeof properties !== "object" || properties === null) return "";
  return `; there are ${Object.keys(properties).join(", ")}`;
}

function ranges(between: string, beyond: string, lower: string, upper: string, unit: string): Record<string, Sentence> {
  const counted = (count: unknown) =>
    `${JSON.stringify(count)}${unit === "" ? "" : ` ${unit}${count === 1 ? "" : "s"}`}`;
  const sentence = (broken: string) => (params: object, schema: unknown) => {
    const endOf = (end: string) => memberOf(schema, end) ?? (end === broken ? memberOf(params, "limit") : undefined);
    const [least, most] = [endOf(lower), endOf(upper)];
    if (least !== undefined && most !== undefined) return `${between} ${JSON.stringify(least)} to ${counted(most)}`;
    return least === undefined ? `${beyond} at most ${counted(most)}` : `${beyond} at least ${counted(least)}`;
  };
  return { [lower]: sentence(lower), [upper]: sentence(upper) };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
