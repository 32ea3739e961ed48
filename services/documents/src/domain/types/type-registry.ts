import { LRUCache } from "lru-cache";
import type { WorkflowReference } from "../document/document.ts";
import { coreSchemas } from "./core-types.ts";
import type { DocumentType, TypeChecks, TypeRegistry, TypeSource } from "./document-type.ts";
import type { SchemaGeneration } from "./schema-generation.ts";

interface TypeRegistryDeps {
  schemas: {
    /** From type to newest generation, for all of a tenant's own types. */
    newest(tenantId: string): Promise<ReadonlyMap<string, number>>;
    find(tenantId: string, type: string, generation: number): Promise<SchemaGeneration | undefined>;
  };
  /**
   * The workflow of new documents of a type; undefined when the type has none. `current` of
   * `workflow/workflow-registry.ts`.
   */
  currentWorkflow(tenantId: string, type: string): Promise<WorkflowReference | undefined>;
  checks: TypeChecks;
}

interface CachedTypeRegistry extends TypeRegistry {
  /** Drops the cached list of a tenant's newest generations. */
  forget(tenantId: string): void;
}

const sourceBytesMax = 64 * 1024 * 1024;

/** A new generation of another process is noticed after at most this time. */
const staleMsMax = 1_000;

/**
 * A registry of the tenants' own types over the core ones. Generations never change, so their
 * schemas are cached, up to 64 MiB of them; the newest generation is read again after a second, and
 * whenever a type is not known.
 */
export function createTypeRegistry({ schemas, currentWorkflow, checks }: TypeRegistryDeps): CachedTypeRegistry {
  const newest = new LRUCache<string, ReadonlyMap<string, number>>({
    max: 10_000,
    ttl: staleMsMax,
    fetchMethod: (tenantId) => schemas.newest(tenantId),
  });
  const sources = new LRUCache<string, TypeSource>({
    max: 1_000,
    maxSize: sourceBytesMax,
    sizeCalculation: (source) => 1 + ("key" in source ? source.shape.byteLength + source.complete.byteLength : 0),
  });

  async function newestGeneration(tenantId: string, name: string): Promise<number | undefined> {
    const known = (newest.get(tenantId) ?? (await newest.forceFetch(tenantId))).get(name);
    if (known !== undefined || coreSchemas.has(name)) return known;
    return (await newest.forceFetch(tenantId, { forceRefresh: true })).get(name);
  }

  async function sourceAt(tenantId: string, name: string, generation: number): Promise<TypeSource> {
    if (generation === 0 && coreSchemas.has(name)) return { builtIn: name };
    const key = JSON.stringify([tenantId, name, generation]);
    const known = sources.get(key);
    if (known) return known;
    const found = await schemas.find(tenantId, name, generation);
    if (!found) throw new TypeError(`there is no generation ${generation} of type ${name}`);
    const source = { key, shape: toShared(found.shape), complete: toShared(found.complete) };
    sources.set(key, source);
    return source;
  }

  async function at(tenantId: string, name: string, generation: number): Promise<DocumentType> {
    const source = await sourceAt(tenantId, name, generation);
    return {
      name,
      generation,
      check: (document, tier, signal) => checks.check(tenantId, source, document, tier, signal),
      isQuick: (document) => checks.isQuick(source, document),
    };
  }

  return {
    at,
    has: async (tenantId, name) => coreSchemas.has(name) || (await newestGeneration(tenantId, name)) !== undefined,
    find: async (tenantId, name) => {
      const generation = (await newestGeneration(tenantId, name)) ?? 0;
      if (generation === 0 && !coreSchemas.has(name)) return undefined;
      const workflow = await currentWorkflow(tenantId, name);
      return workflow && { type: await at(tenantId, name, generation), workflow };
    },
    forget: (tenantId) => newest.delete(tenantId),
  };
}

function toShared(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared;
}
