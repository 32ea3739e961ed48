import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/route";
import type { CreateSchemaGenerationDeps } from "../../domain/types/add-generation.ts";
import { createSchemaGeneration } from "./create-schema-generation.ts";
import { getSchemaGeneration, type GetSchemaGenerationDeps } from "./get-schema-generation.ts";
import { listSchemaGenerations, type ListSchemaGenerationsDeps } from "./list-schema-generations.ts";

/** The service of the types' schemas. */
export function schemaRoute(
  deps: CreateSchemaGenerationDeps & GetSchemaGenerationDeps & ListSchemaGenerationsDeps,
): TeamsRoute {
  const methods = route(SchemaService, {
    createSchemaGeneration: createSchemaGeneration(deps),
    getSchemaGeneration: getSchemaGeneration(deps),
    listSchemaGenerations: listSchemaGenerations(deps),
  });
  return teamsRoute(methods, {
    createSchemaGeneration: "write",
    getSchemaGeneration: "read",
    listSchemaGenerations: "read",
  });
}
