import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { requireAdministrator } from "@vidimus/tenancy/administrator";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseJson } from "../json/parse-json.ts";
import { defaultWorkflow } from "./default-workflow.ts";
import { namePattern, parseDefinition } from "./parse-definition.ts";
import type { StoredWorkflow } from "./stored-workflow.ts";

interface WorkflowRequest {
  readonly tenantId: string;
  readonly workflowId: string;
  /** The newest version that the caller saw; 0 for none. */
  readonly expectedVersion: number;
  /** JSON. */
  readonly definition: Uint8Array;
}

export interface CreateWorkflowVersionDeps {
  workflows: {
    /** Returns false when that number exists already. */
    insert(tenantId: string, workflow: StoredWorkflow, by: AuditAuthor): Promise<boolean>;
    /** From workflow id to newest version, for all of a tenant's own workflows. */
    newest(tenantId: string): Promise<ReadonlyMap<string, number>>;
  };
  now(): Date;
}

const definitionBytesMax = 64 * 1024;
const workflowsMax = 100;

/**
 * Stores the next version of a workflow.
 *
 * @returns the number of the version
 * @throws DomainError `permission_denied` when the author is no administrator; `too_large` above 64
 * KiB; `invalid` for a malformed id, or with a pointer for every fault of the definition;
 * `conflict`, with the newest version in the message, when the caller saw another one; `exhausted`
 * beyond 100 workflows
 */
export async function addWorkflow(
  deps: CreateWorkflowVersionDeps,
  request: WorkflowRequest,
  by: AuditAuthor,
): Promise<number> {
  requireAdministrator(by, "change workflows");
  const { tenantId, workflowId, expectedVersion } = request;
  if (!namePattern.test(workflowId)) {
    throw new DomainError("invalid", `workflow_id must be a name like ${namePattern.source}`);
  }
  const definition = readDefinition(request.definition);
  await requireNewest(deps, request);
  const version = expectedVersion + 1;
  const workflow = { workflowId, version, definition, createdAt: deps.now(), createdBy: by.actor };
  const isFirst = await deps.workflows.insert(tenantId, workflow, by);
  if (!isFirst) await requireNewest(deps, request);
  return version;
}

function readDefinition(bytes: Uint8Array): Buffer {
  if (bytes.byteLength > definitionBytesMax) {
    throw new DomainError("too_large", `definition_json has at most ${definitionBytesMax} bytes`);
  }
  const value = parseJson(bytes);
  parseDefinition(value);
  return canonicalJson(value);
}

async function requireNewest({ workflows }: CreateWorkflowVersionDeps, request: WorkflowRequest): Promise<void> {
  const { tenantId, workflowId, expectedVersion } = request;
  const own = await workflows.newest(tenantId);
  const newest = own.get(workflowId) ?? (workflowId === defaultWorkflow.workflowId ? defaultWorkflow.version : 0);
  if (newest !== expectedVersion) {
    const message = `version ${expectedVersion} of ${workflowId} was expected, but ${newest} is the newest`;
    const metadata = { current_version: String(newest) };
    throw new DomainError("conflict", message, { reason: "stale_workflow", metadata });
  }
  if (!own.has(workflowId) && own.size >= workflowsMax) {
    throw new DomainError("exhausted", `a tenant has at most ${workflowsMax} workflows`);
  }
}
