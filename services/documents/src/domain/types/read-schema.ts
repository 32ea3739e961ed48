import { DomainError } from "@vidimus/kit/errors";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { boundReferences } from "./bound-references.ts";
import { compileSchema } from "./compile-schema.ts";

/**
 * Reads a schema that someone wants to add, wherever that is done; rejects as `readSchema` throws.
 */
export type SchemaReader = (tenantId: string, field: string, bytes: Uint8Array) => Promise<Uint8Array>;

/** Largest schema, in bytes of JSON. */
export const schemaBytesMax = 256 * 1024;

/**
 * Makes sure that a JSON Schema can be used, and answers its canonical form.
 *
 * @throws DomainError `too_large`; `invalid`, with what is wrong in `field`
 */
export function readSchema(field: string, bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength > schemaBytesMax) {
    throw new DomainError("too_large", `${field} has at most ${schemaBytesMax} bytes`);
  }
  const schema = parseJson(bytes);
  if (!isJsonObject(schema)) throw new DomainError("invalid", `${field} must be a JSON object`);
  // An asynchronous validator would answer a promise, which is never false.
  if (Object.hasOwn(schema, "$async")) throw new DomainError("invalid", `${field} must not be asynchronous`);
  try {
    compileSchema(schema, { strict: true });
    boundReferences(schema);
  } catch (error) {
    throw new DomainError("invalid", `${field} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  return canonicalJson(schema);
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError)
    return "it is nested too deep, or has too many members in one object, to be compiled";
  return (error instanceof Error ? error.message : String(error)).toWellFormed();
}
