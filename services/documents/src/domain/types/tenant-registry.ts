import { LRUCache } from "lru-cache";
import type { WorkflowReference } from "../document/document.ts";
import { coreTypes } from "./core-types.ts";
import type { DocumentType, TypeRegistry } from "./document-type.ts";
import { type SchemaGeneration, toDocumentType } from "./schema-generation.ts";

/** What the registry asks. */
export interface RegistryDeps {
  schemas: {
    /** The newest generation of each of a tenant's types. */
    newest(tenantId: string): Promise<ReadonlyMap<string, number>>;
    find(tenantId: string, type: string, generation: number): Promise<SchemaGeneration | undefined>;
  };
  /** What new documents of a type are stamped with; undefined when the type has no workflow. */
  currentWorkflow(tenantId: string, type: string): Promise<WorkflowReference | undefined>;
}

/** The registry of all tenants. */
export interface TenantRegistry extends TypeRegistry {
  /** Makes the next look at a tenant's types a fresh one. */
  forget(tenantId: string): void;
}

/** How long another process's new generation may go unseen. */
const staleMsMax = 1_000;

/**
 * A registry of the tenants' own types over the core ones. Generations never change, so they are kept as long as there is
 * room; which one is the newest is asked again after a second, and whenever a type is not known.
 */
export function createTenantRegistry({ schemas, currentWorkflow }: RegistryDeps): TenantRegistry {
  const newest = new LRUCache<string, ReadonlyMap<string, number>>({
    max: 10_000,
    ttl: staleMsMax,
    fetchMethod: (tenantId) => schemas.newest(tenantId),
  });
  const types = new LRUCache<string, DocumentType>({ max: 1_000 });

  async function newestGeneration(tenantId: string, name: string): Promise<number | undefined> {
    const known = (newest.get(tenantId) ?? (await newest.forceFetch(tenantId))).get(name);
    if (known !== undefined || coreTypes.has(name)) return known;
    return (await newest.forceFetch(tenantId, { forceRefresh: true })).get(name);
  }

  async function at(tenantId: string, name: string, generation: number): Promise<DocumentType> {
    const builtIn = generation === 0 ? coreTypes.get(name) : undefined;
    if (builtIn) return builtIn;
    const key = JSON.stringify([tenantId, name, generation]);
    const known = types.get(key);
    if (known) return known;
    const found = await schemas.find(tenantId, name, generation);
    if (!found) throw new TypeError(`there is no generation ${generation} of type ${name}`);
    const type = toDocumentType(found);
    types.set(key, type);
    return type;
  }

  return {
    at,
    find: async (tenantId, name) => {
      const generation = (await newestGeneration(tenantId, name)) ?? 0;
      if (generation === 0 && !coreTypes.has(name)) return undefined;
      const workflow = await currentWorkflow(tenantId, name);
      return workflow && { type: await at(tenantId, name, generation), workflow };
    },
    forget: (tenantId) => newest.delete(tenantId),
  };
}
