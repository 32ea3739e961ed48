import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { requireAdministrator } from "@vidimus/tenancy/administrator";
import type { SchemaReader } from "./read-schema.ts";
import type { SchemaGeneration } from "./schema-generation.ts";

interface GenerationRequest {
  readonly tenantId: string;
  readonly type: string;
  /** The newest generation that the caller saw; 0 for none of the tenant's own. */
  readonly expectedGeneration: number;
  /** JSON Schema. */
  readonly shape: Uint8Array;
  /** JSON Schema; empty for one without rules. */
  readonly complete: Uint8Array;
}

export interface CreateSchemaGenerationDeps {
  schemas: {
    /** Returns false when that number exists already. */
    insert(generation: SchemaGeneration, by: AuditAuthor): Promise<boolean>;
    /** From type to newest generation, for all of a tenant's own types. */
    newest(tenantId: string): Promise<ReadonlyMap<string, number>>;
  };
  readSchema: SchemaReader;
  /** Drops the cached list of a tenant's newest generations. */
  forget(tenantId: string): void;
  now(): Date;
}

/** The form of a type's name, for example "acme/recipe". */
export const typePattern = /^[a-z][a-z0-9-]{0,31}\/[a-z][a-z0-9-]{0,63}$/;

/**
 * Adds the next generation of a type. New documents and edits are checked against it at once in
 * this process, and within a second in others.
 *
 * @returns the number of the generation
 * @throws DomainError `permission_denied` when the author is no administrator; `invalid` for a name
 * or a schema that cannot be used; `too_large`; `unavailable` when a schema could not be checked;
 * `conflict` with reason `stale_generation` when the caller did not see the newest generation
 */
export async function addGeneration(
  deps: CreateSchemaGenerationDeps,
  request: GenerationRequest,
  by: AuditAuthor,
): Promise<number> {
  const { tenantId, type, expectedGeneration } = request;
  requireAdministrator(by, "add schema generations");
  if (!typePattern.test(type)) {
    throw new DomainError("invalid", 'type must be two lowercase words joined by a slash, like "acme/recipe"');
  }
  const shape = await deps.readSchema(tenantId, "shape_schema_json", request.shape);
  const complete = await deps.readSchema(tenantId, "complete_schema_json", orEmpty(request.complete));
  await requireNewest(deps, tenantId, type, expectedGeneration);
  const generation: SchemaGeneration = {
    tenantId,
    type,
    generation: expectedGeneration + 1,
    shape,
    complete,
    createdAt: deps.now(),
    createdBy: by.actor,
  };
  const isFirst = await deps.schemas.insert(generation, by);
  deps.forget(tenantId);
  if (!isFirst) await requireNewest(deps, tenantId, type, expectedGeneration);
  return generation.generation;
}

async function requireNewest(
  { schemas }: CreateSchemaGenerationDeps,
  tenantId: string,
  type: string,
  expected: number,
): Promise<void> {
  const newest = (await schemas.newest(tenantId)).get(type) ?? 0;
  if (newest === expected) return;
  const message = `generation ${expected} of ${type} was expected, but ${newest} is the newest`;
  const metadata = { current_version: String(newest) };
  throw new DomainError("conflict", message, { reason: "stale_generation", metadata });
}

function orEmpty(schema: Uint8Array): Uint8Array {
  return schema.byteLength === 0 ? Buffer.from("{}") : schema;
}
