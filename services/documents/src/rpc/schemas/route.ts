import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import type { CreateSchemaGenerationDeps } from "../../domain/types/add-generation.ts";
import { createSchemaGeneration } from "./create-schema-generation.ts";
import { getSchemaGeneration, type GetSchemaGenerationDeps } from "./get-schema-generation.ts";
import { listSchemaGenerations, type ListSchemaGenerationsDeps } from "./list-schema-generations.ts";

/** The service of the types' schemas. */
export function schemaRoute(
  deps: CreateSchemaGenerationDeps & GetSchemaGenerationDeps & ListSchemaGenerationsDeps,
): RpcRoute {
  return route(SchemaService, {
    createSchemaGeneration: createSchemaGeneration(deps),
    getSchemaGeneration: getSchemaGeneration(deps),
    listSchemaGenerations: listSchemaGenerations(deps),
  });
}
