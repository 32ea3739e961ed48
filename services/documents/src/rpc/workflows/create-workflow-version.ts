import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { addWorkflow, type CreateWorkflowVersionDeps } from "../../domain/workflow/add-workflow.ts";

export function createWorkflowVersion(
  deps: CreateWorkflowVersionDeps,
): MethodImpl<typeof WorkflowService.method.createWorkflowVersion> {
  return async ({ tenantId, workflowId, expectedVersion, definitionJson }, context) => {
    const request = { tenantId: requireTenantId(tenantId), workflowId, expectedVersion, definition: definitionJson };
    return { version: await addWorkflow(deps, request, authorOf(callContext(context))) };
  };
}
