import { DomainError } from "@vidimus/kit/errors";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonValue } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { boundReferences } from "./bound-references.ts";
import { compileSchema } from "./compile-schema.ts";

/**
 * Reads a schema to be added, in a thread. Rejects with the errors of `readSchema`, as `invalid`
 * when the schema takes too much time or memory, and as `unavailable` when the thread fails.
 */
export type SchemaReader = (tenantId: string, field: string, bytes: Uint8Array) => Promise<Uint8Array>;

/** The only JSON Schema dialect that a schema may name. */
const dialectRead = "https://json-schema.org/draft/2020-12/schema";

/** Largest schema, in bytes of JSON. */
export const schemaBytesMax = 256 * 1024;

/**
 * Checks that a JSON Schema can be used, and returns its canonical form.
 *
 * @throws DomainError `too_large`; `invalid`. The message names `field`, the field of the request,
 * unless `parseJson` refuses the bytes
 */
export function readSchema(field: string, bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength > schemaBytesMax) {
    throw new DomainError("too_large", `${field} has at most ${schemaBytesMax} bytes`);
  }
  const schema = parseJson(bytes);
  if (!isJsonObject(schema)) throw new DomainError("invalid", `${field} must be a JSON object`);
  // An asynchronous validator returns a promise, which is always truthy and would count as valid.
  if (Object.hasOwn(schema, "$async")) throw new DomainError("invalid", `${field} must not be asynchronous`);
  requireDialect(field, schema["$schema"]);
  try {
    compileSchema(schema, { strict: true });
    boundReferences(schema);
  } catch (error) {
    throw new DomainError("invalid", `${field} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  return canonicalJson(schema);
}

/**
 * The names of drafts up to 07 end with `#`, and authors add a `#` to the name of 2020-12, too, so
 * that form is accepted.
 */
function requireDialect(field: string, dialect: JsonValue | undefined): void {
  if (dialect === undefined || dialect === dialectRead || dialect === `${dialectRead}#`) return;
  const named = JSON.stringify(dialect).slice(0, 128);
  const message =
    `${field} says that it is written in ${named}; types are written in JSON Schema 2020-12: ` +
    `rewrite it, and set $schema to "${dialectRead}" or leave it out`;
  const violations = [{ pointer: "/$schema", message: `must be "${dialectRead}"` }];
  throw new DomainError("invalid", message, { reason: "unknown_dialect", violations });
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError)
    return "it is nested too deep, or has too many members in one object, to be compiled";
  return (error instanceof Error ? error.message : String(error)).toWellFormed();
}
