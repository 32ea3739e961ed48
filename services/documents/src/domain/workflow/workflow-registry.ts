import { DomainError } from "@vidimus/kit/errors";
import { LRUCache } from "lru-cache";
import type { WorkflowReference } from "../document/document.ts";
import { coreSchemas } from "../types/core-types.ts";
import { defaultWorkflow } from "./default-workflow.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { type Activation, type StoredWorkflow, toDefinition } from "./stored-workflow.ts";

interface WorkflowRegistryDeps {
  workflows: {
    find(tenantId: string, workflowId: string, version: number): Promise<StoredWorkflow | undefined>;
    activations(tenantId: string): Promise<Activation[]>;
    all(tenantId: string): Promise<StoredWorkflow[]>;
  };
}

export interface WorkflowRegistry {
  at(tenantId: string, workflowId: string, version: number): Promise<WorkflowDefinition>;
  /** The workflow of new documents of a type; undefined when the type has none. */
  current(tenantId: string, type: string): Promise<WorkflowReference | undefined>;
  /** Whether the built-in workflow or any version of a tenant's own workflows has the state. */
  hasState(tenantId: string, state: string): Promise<boolean>;
  /** Drops a tenant's cached activations. */
  forget(tenantId: string): void;
}

/** An activation of another process is noticed after at most this time. */
const staleMsMax = 1_000;

/**
 * A registry of the tenants' own workflows over the built-in one. Versions never change, so up to
 * 1,000 of them are cached; activations are read again after a second, and whenever a type has no
 * workflow.
 */
export function createWorkflowRegistry({ workflows }: WorkflowRegistryDeps): WorkflowRegistry {
  const definitions = new LRUCache<string, WorkflowDefinition>({ max: 1_000 });
  const active = new LRUCache<string, ReadonlyMap<string, WorkflowReference>>({
    max: 10_000,
    ttl: staleMsMax,
    fetchMethod: async (tenantId) => toReferences(await workflows.activations(tenantId)),
  });

  const states = new LRUCache<string, ReadonlySet<string>>({ max: 1_000 });

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

  /** States are never removed, so the database is read only for an unknown one. */
  async function hasState(tenantId: string, state: string): Promise<boolean> {
    if (defaultWorkflow.states.has(state) || states.get(tenantId)?.has(state)) return true;
    const known = new Set(
      (await workflows.all(tenantId)).flatMap((each) => Array.from(toDefinition(each).states.keys())),
    );
    states.set(tenantId, known);
    return known.has(state);
  }

  return { at, current, hasState, forget: (tenantId) => active.delete(tenantId) };
}

const builtIn: WorkflowReference = {
  workflowId: defaultWorkflow.workflowId,
  workflowVersion: defaultWorkflow.version,
};

function toReferences(activations: readonly Activation[]): Map<string, WorkflowReference> {
  return new Map(activations.map(({ type, workflowId, version }) => [type, { workflowId, workflowVersion: version }]));
}
