import type { MethodImpl } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { type CreateSchemaGenerationDeps, addGeneration } from "../../domain/types/add-generation.ts";
import { callingActor } from "../requests.ts";

/** Adds a generation of a type. */
export function createSchemaGeneration(
  deps: CreateSchemaGenerationDeps,
): MethodImpl<typeof SchemaService.method.createSchemaGeneration> {
  return async ({ tenantId, type, expectedGeneration, shapeSchemaJson, completeSchemaJson }, context) => {
    const request = { type, expectedGeneration, shape: shapeSchemaJson, complete: completeSchemaJson };
    const generation = await addGeneration(
      deps,
      { tenantId: requireTenantId(tenantId), ...request },
      callingActor(context),
    );
    return { generation };
  };
}
