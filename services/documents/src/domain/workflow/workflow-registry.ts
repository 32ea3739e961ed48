import { DomainError } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import type { WorkflowReference } from "../document/document.ts";
import { coreSchemas } from "../types/core-types.ts";
import { defaultWorkflow } from "./default-workflow.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { type Activation, type StoredWorkflow, toDefinition } from "./stored-workflow.ts";

/** Where workflows come from. */
interface WorkflowRegistryDeps {
  workflows: {
    find(tenantId: string, workflowId: string, version: number): Promise<StoredWorkflow | undefined>;
    activations(tenantId: string): Promise<Activation[]>;
  };
}

/** The workflows of all tenants. */
export interface WorkflowRegistry {
  /** One version. Throws `not_found`. */
  at(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  /** What new documents of a type are stamped with; undefined when the type has no workflow. */
  current(tenantId: string, type: string): Promise<WorkflowReference | undefined>;
  /** Drops what is cached of a tenant's activations. */
  forget(tenantId: string): void;
}

/** How long another process's activation may go unseen. */
const staleMsMax = 1_000;

/**
 * A registry of the tenants' own workflows over the built-in one. Versions never change, so they
 * are kept as long as there is room; what is active is asked again after a second, and whenever a
 * type has no workflow.
 */
export function createWorkflowRegistry({ workflows }: WorkflowRegistryDeps): WorkflowRegistry {
  const definitions = new LRUCache<string, WorkflowDefinition>({ max: 1_000 });
  const active = new LRUCache<string, ReadonlyMap<string, WorkflowReference>>({
    max: 10_000,
    ttl: staleMsMax,
    fetchMethod: async (tenantId) => toReferences(await workflows.activations(tenantId)),
  });

  async function at(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition> {
    if (workflowId === defaultWorkflow.workflowId && version === defaultWorkflow.version) return defaultWorkflow;
    const key = JSON.stringify([tenantId, workflowId, version]);
    const known = definitions.get(key);
    if (known) return known;
    const found = await workflows.find(tenantId, workflowId, version);
    if (!found) throw new DomainError("not_found", `there is no version ${version} of workflow ${workflowId}`);
    const definition = toDefinition(found);
    definitions.set(key, definition);
    return definition;
  }

  async function current(tenantId: string, type: string): Promise<WorkflowReference | undefined> {
    const known = (await active.forceFetch(tenantId)).get(type);
    if (known) return known;
    if (coreSchemas.has(type)) return builtIn;
    return (await active.forceFetch(tenantId, { forceRefresh: true })).get(type);
  }

  return { at, current, forget: (tenantId) => active.delete(tenantId) };
}

const builtIn: WorkflowReference = {
  workflowId: defaultWorkflow.workflowId,
  workflowVersion: defaultWorkflow.version,
};

function toReferences(activations: readonly Activation[]): Map<string, WorkflowReference> {
  return new Map(activations.map(({ type, workflowId, version }) => [type, { workflowId, workflowVersion: version }]));
}
