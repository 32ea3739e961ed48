import type { MethodImpl } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { type CreateSchemaGenerationDeps, addGeneration } from "../../domain/types/add-generation.ts";

export function createSchemaGeneration(
  deps: CreateSchemaGenerationDeps,
): MethodImpl<typeof SchemaService.method.createSchemaGeneration> {
  return async ({ tenantId, type, expectedGeneration, shapeSchemaJson, completeSchemaJson }, context) => {
    const request = { type, expectedGeneration, shape: shapeSchemaJson, complete: completeSchemaJson };
    const generation = await addGeneration(
      deps,
      { tenantId: requireTenantId(tenantId), ...request },
      authorOf(callContext(context)),
    );
    return { generation };
  };
}
