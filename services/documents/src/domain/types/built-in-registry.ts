import type { WorkflowReference } from "../document/document.ts";
import { coreTypes } from "./core-types.ts";
import type { TypeRegistry } from "./document-type.ts";

/** The registry of tenants that define nothing themselves: core types, each with one workflow. */
export function builtInRegistry(workflow: WorkflowReference): TypeRegistry {
  return {
    find: async (_tenantId, name) => {
      const type = coreTypes.get(name);
      return type && { type, workflow };
    },
    at: async (_tenantId, name, generation) => {
      const type = coreTypes.get(name);
      if (type?.generation === generation) return type;
      throw new Error(`there is no generation ${generation} of type ${name}`);
    },
  };
}
