import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { defaultWorkflow } from "../../domain/workflow/default-workflow.ts";
import type { WorkflowStore } from "../../store/workflow-store.ts";
import { builtInWorkflowMessage, toWorkflowMessage } from "./messages.ts";

export function getWorkflowVersion({
  workflows,
}: {
  workflows: Pick<WorkflowStore, "find" | "newest">;
}): MethodImpl<typeof WorkflowService.method.getWorkflowVersion> {
  return async (request) => {
    const tenantId = requireTenantId(request.tenantId);
    const { workflowId } = request;
    const version = request.version || ((await workflows.newest(tenantId)).get(workflowId) ?? 1);
    const found = await workflows.find(tenantId, workflowId, version);
    if (found) return { workflow: toWorkflowMessage(found) };
    if (workflowId === defaultWorkflow.workflowId && version === defaultWorkflow.version) {
      return { workflow: builtInWorkflowMessage() };
    }
    throw new DomainError("not_found", `there is no version ${version} of workflow "${workflowId.slice(0, 32)}"`);
  };
}
