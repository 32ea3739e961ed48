import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { WorkflowStore } from "../../store/workflow-store.ts";

export function listWorkflowActivations({
  workflows,
}: {
  workflows: Pick<WorkflowStore, "activations">;
}): MethodImpl<typeof WorkflowService.method.listWorkflowActivations> {
  return async ({ tenantId }) => ({ activations: await workflows.activations(requireTenantId(tenantId)) });
}
