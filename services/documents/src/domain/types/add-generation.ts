import { DomainError } from "@vidimus/kit/errors";
import type { Actor } from "../document/document.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isJsonObject, type JsonObject } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { compileSchema } from "./compile-schema.ts";
import type { SchemaGeneration } from "./schema-generation.ts";

/** A generation that somebody wants to add. */
export interface GenerationRequest {
  readonly tenantId: string;
  readonly type: string;
  /** The newest generation the caller saw; 0 for none of the tenant's own. */
  readonly expectedGeneration: number;
  /** JSON Schema. */
  readonly shape: Uint8Array;
  /** JSON Schema; empty for one that asks for nothing. */
  readonly complete: Uint8Array;
}

/** What adding a generation needs. */
export interface AddGenerationDeps {
  schemas: {
    /** Keeps a generation; false when there is one of that number already. */
    insert(generation: SchemaGeneration): Promise<boolean>;
    /** The newest generation of each of a tenant's types. */
    newest(tenantId: string): Promise<ReadonlyMap<string, number>>;
  };
  /** Makes the next look at a tenant's types a fresh one. */
  forget(tenantId: string): void;
  now(): Date;
}

const schemaBytesMax = 256 * 1024;
/** What tenants may call their types. */
export const typePattern = /^[a-z][a-z0-9-]{0,31}\/[a-z][a-z0-9-]{0,63}$/;
const administrators: ReadonlySet<string> = new Set(["owner", "admin"]);

/**
 * Adds the next generation of a type and puts it in force.
 *
 * @returns its number
 * @throws DomainError `permission_denied`; `invalid` for a name or a schema that cannot be used; `conflict`, with what
 *   stands there now, when the named generation is not the newest
 */
export async function addGeneration(deps: AddGenerationDeps, request: GenerationRequest, by: Actor): Promise<number> {
  const { tenantId, type, expectedGeneration } = request;
  if (!administrators.has(by.role)) {
    throw new DomainError("permission_denied", "only an owner or an admin may add schema generations");
  }
  if (!typePattern.test(type)) {
    throw new DomainError("invalid", 'type must be two lowercase words joined by a slash, like "acme/recipe"');
  }
  const shape = readSchema("shape_schema_json", request.shape);
  const complete = request.complete.byteLength === 0 ? {} : readSchema("complete_schema_json", request.complete);
  await requireNewest(deps, tenantId, type, expectedGeneration);
  const generation: SchemaGeneration = {
    tenantId,
    type,
    generation: expectedGeneration + 1,
    shape: canonicalJson(shape),
    complete: canonicalJson(complete),
    createdAt: deps.now(),
    createdBy: by.actor,
  };
  const isFirst = await deps.schemas.insert(generation);
  deps.forget(tenantId);
  if (!isFirst) await requireNewest(deps, tenantId, type, expectedGeneration);
  return generation.generation;
}

async function requireNewest(
  { schemas }: AddGenerationDeps,
  tenantId: string,
  type: string,
  expected: number,
): Promise<void> {
  const newest = (await schemas.newest(tenantId)).get(type) ?? 0;
  if (newest === expected) return;
  throw new DomainError("conflict", `generation ${expected} of ${type} was expected, but ${newest} is the newest`);
}

function readSchema(field: string, bytes: Uint8Array): JsonObject {
  if (bytes.byteLength > schemaBytesMax) {
    throw new DomainError("too_large", `${field} has at most ${schemaBytesMax} bytes`);
  }
  const schema = parseJson(bytes);
  if (!isJsonObject(schema)) throw new DomainError("invalid", `${field} must be a JSON object`);
  // An asynchronous validator would answer a promise, which is never false.
  if (Object.hasOwn(schema, "$async")) throw new DomainError("invalid", `${field} must not be asynchronous`);
  try {
    compileSchema(schema, { strict: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DomainError("invalid", `${field} cannot be used: ${reason.toWellFormed()}`, { cause: error });
  }
  return schema;
}
