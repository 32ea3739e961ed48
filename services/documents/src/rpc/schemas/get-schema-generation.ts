import type { MethodImpl } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { canonicalJson } from "../../domain/json/canonical-json.ts";
import { coreSchemas } from "../../domain/types/core-types.ts";
import type { SchemaStore } from "../../store/schema-store.ts";
import { toGenerationMessage } from "./messages.ts";

export interface GetSchemaGenerationDeps {
  schemas: Pick<SchemaStore, "newest" | "find">;
}

export function getSchemaGeneration({
  schemas,
}: GetSchemaGenerationDeps): MethodImpl<typeof SchemaService.method.getSchemaGeneration> {
  return async (request) => {
    const tenantId = requireTenantId(request.tenantId);
    const { type } = request;
    const generation = request.generation ?? (await schemas.newest(tenantId)).get(type) ?? 0;
    const builtIn = generation === 0 ? coreSchemas.get(type) : undefined;
    if (builtIn) {
      const [shapeSchemaJson, completeSchemaJson] = [canonicalJson(builtIn.shape), canonicalJson(builtIn.complete)];
      return { schemaGeneration: { type, generation, shapeSchemaJson, completeSchemaJson } };
    }
    const found = await schemas.find(tenantId, type, generation);
    if (!found) throw new DomainError("not_found", `there is no generation ${generation} of type "${type}"`);
    const { shape, complete } = found;
    return {
      schemaGeneration: { ...toGenerationMessage(found), shapeSchemaJson: shape, completeSchemaJson: complete },
    };
  };
}
