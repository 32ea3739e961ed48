import type { MethodImpl } from "@connectrpc/connect";
import type { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { coreSchemas } from "../../domain/types/core-types.ts";
import type { SchemaStore } from "../../store/schema-store.ts";
import { toGenerationMessage } from "./messages.ts";

export interface ListSchemaGenerationsDeps {
  schemas: Pick<SchemaStore, "list">;
}

export function listSchemaGenerations({
  schemas,
}: ListSchemaGenerationsDeps): MethodImpl<typeof SchemaService.method.listSchemaGenerations> {
  return async ({ tenantId }) => {
    const own = (await schemas.list(requireTenantId(tenantId))).map(toGenerationMessage);
    const builtIn = [...coreSchemas.keys()].map((type) => ({ type, generation: 0 }));
    const all = [...builtIn, ...own];
    return { schemaGenerations: all.toSorted((a, b) => compare(a.type, b.type) || a.generation - b.generation) };
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
