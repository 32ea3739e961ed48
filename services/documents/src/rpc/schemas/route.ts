import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { listAuditEntries, type ListAuditEntriesDeps } from "@vidimus/tenancy/audit/list-audit-entries";
import {
  meshRoute,
  type MeshRoute,
  partialRoute,
  route,
  type TeamsRoute,
  teamsRoute,
} from "@vidimus/kit/rpc/doors/shared/route";
import type { CreateSchemaGenerationDeps } from "../../domain/types/add-generation.ts";
import { createSchemaGeneration } from "./create-schema-generation.ts";
import { getSchemaGeneration, type GetSchemaGenerationDeps } from "./get-schema-generation.ts";
import { listSchemaGenerations, type ListSchemaGenerationsDeps } from "./list-schema-generations.ts";

/** Lists a tenant's types for delivery, whose endpoints may select some of them. */
export function knownTypesRoute(deps: ListSchemaGenerationsDeps): MeshRoute {
  const methods = partialRoute(SchemaService, { listSchemaGenerations: listSchemaGenerations(deps) });
  return meshRoute(methods, { listSchemaGenerations: ["delivery"] });
}

/** `SchemaService`: the schemas of types, and the audit log of changes to schemas and workflows. */
export function schemaRoute(
  deps: CreateSchemaGenerationDeps & GetSchemaGenerationDeps & ListSchemaGenerationsDeps & ListAuditEntriesDeps,
): TeamsRoute {
  const methods = route(SchemaService, {
    createSchemaGeneration: createSchemaGeneration(deps),
    getSchemaGeneration: getSchemaGeneration(deps),
    listSchemaGenerations: listSchemaGenerations(deps),
    listAuditEntries: listAuditEntries(deps),
  });
  return teamsRoute(methods, {
    createSchemaGeneration: "write",
    getSchemaGeneration: "read",
    listSchemaGenerations: "read",
    listAuditEntries: "read",
  });
}
