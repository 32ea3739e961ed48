import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { defaultWorkflow } from "../../domain/workflow/default-workflow.ts";
import type { WorkflowStore } from "../../store/workflow-store.ts";
import { builtInWorkflowMessage, toWorkflowMessage } from "./messages.ts";

export function listWorkflows({
  workflows,
}: {
  workflows: Pick<WorkflowStore, "find" | "newest">;
}): MethodImpl<typeof WorkflowService.method.listWorkflows> {
  return async (request) => {
    const tenantId = requireTenantId(request.tenantId);
    const newest = await workflows.newest(tenantId);
    const reads = [...newest].map(([workflowId, version]) => workflows.find(tenantId, workflowId, version));
    const own = (await Promise.all(reads)).flatMap((found) => (found ? [toWorkflowMessage(found)] : []));
    const builtIn = newest.has(defaultWorkflow.workflowId) ? [] : [builtInWorkflowMessage()];
    return { workflows: [...builtIn, ...own].toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1)) };
  };
}
