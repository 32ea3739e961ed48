import type { Client } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { DomainError } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/error-table";

export interface KnownTypesDeps {
  schemas: Pick<Client<typeof SchemaService>, "listSchemaGenerations">;
}

/**
 * Refuses document types that the tenant does not have, since their snapshots would never come. Types
 * that an endpoint has already are not looked at: it stays as it is whatever became of them.
 *
 * @param names as a request gives them
 * @param kept those that the endpoint has
 * @throws DomainError `invalid` (`unknown_type`) that names each, and what asking documents failed with
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
