import type { Client } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { DomainError } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";

export interface KnownTypesDeps {
  schemas: Pick<Client<typeof SchemaService>, "listSchemaGenerations">;
}

/**
 * Refuses document types that the tenant does not have, because their snapshots would never come.
 * Types that the endpoint already has are not checked, so that an endpoint with a removed type can
 * still be changed.
 *
 * @param names of the types in the request
 * @param kept the endpoint's types
 * @throws DomainError `invalid` (`unknown_type`) that names each unknown type; errors of the call
 * to documents
 */
export async function requireKnownTypes(
  { schemas }: KnownTypesDeps,
  tenantId: string,
  names: readonly string[],
  kept: readonly string[] = [],
  signal?: AbortSignal,
): Promise<void> {
  const asked = new Set(names.filter((name) => !kept.includes(name)));
  if (asked.size === 0) return;
  const known = await typesOf({ schemas }, tenantId, signal);
  const unknown = [...asked].filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const violations = unknown.map((name) => {
    const pointer = `/documentTypes/${names.indexOf(name)}`;
    return { pointer, message: `names a type that the tenant does not have: ${name}`, reason: "unknown_type" };
  });
  const message = `documentTypes names types that the tenant does not have: ${unknown.join(", ")}`;
  throw new DomainError("invalid", message, { violations, reason: "unknown_type" });
}

/** The tenant's own types and the built-in ones. */
async function typesOf(
  { schemas }: KnownTypesDeps,
  tenantId: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  try {
    const { schemaGenerations } = await schemas.listSchemaGenerations({ tenantId }, signal ? { signal } : {});
    return new Set(schemaGenerations.map(({ type }) => type));
  } catch (error) {
    throw fromConnectError(error) ?? error;
  }
}
