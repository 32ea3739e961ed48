import type { TSchema } from "typebox";

type Json = Readonly<Record<string, unknown>>;

/** Keywords that only the gateway's validation and description use. */
const ownKeywords = new Set(["x-must", "x-names", "x-described-as"]);

/**
 * A schema as the API description shows it, at every depth: replaced by its `x-described-as` if it
 * has one, else without `x-` keywords and with a choice of constant strings as one `enum`.
 */
export function publicSchema(schema: TSchema | Json): unknown {
  return shown(schema);
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  const described: unknown = Reflect.get(value, "x-described-as");
  if (described !== undefined) return described;
  const members = Object.entries(value).filter(([name]) => !ownKeywords.has(name));
  const schema: Json = Object.fromEntries(members.map(([name, member]) => [name, shown(member)]));
  return asChoice(schema) ?? schema;
}

function asChoice({ anyOf, ...rest }: Json): Json | undefined {
  if (!Array.isArray(anyOf) || anyOf.length < 2) return undefined;
  const constants: unknown[] = anyOf.map((each: unknown) =>
    typeof each === "object" && each !== null ? Reflect.get(each, "const") : undefined,
  );
  return constants.every((constant) => typeof constant === "string")
    ? { type: "string", enum: constants, ...rest }
    : undefined;
}
