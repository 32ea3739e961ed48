import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { typePattern } from "../../domain/types/add-generation.ts";
import { requireAdministrator } from "@vidimus/kit/administrator";
import type { WorkflowRegistry } from "../../domain/workflow/workflow-registry.ts";
import type { WorkflowStore } from "../../store/workflow-store.ts";
import { callingActor } from "../requests.ts";

/** The store of activations, and the registry that caches them. */
interface ActivateWorkflowDeps {
  workflows: Pick<WorkflowStore, "activate">;
  registry: Pick<WorkflowRegistry, "at" | "forget">;
  now(): Date;
}

/** Stamps new documents of a type with a workflow version from now on. */
export function activateWorkflow({
  workflows,
  registry,
  now,
}: ActivateWorkflowDeps): MethodImpl<typeof WorkflowService.method.activateWorkflow> {
  return async (request, context) => {
    const by = callingActor(context);
    requireAdministrator(by, "change workflows");
    const tenantId = requireTenantId(request.tenantId);
    const { type = "", workflowId = "", version = 0 } = request.activation ?? {};
    if (!typePattern.test(type)) {
      throw new DomainError("invalid", 'type must be two lowercase words joined by a slash, like "acme/recipe"');
    }
    await registry.at(tenantId, workflowId, version);
    await workflows.activate(tenantId, { type, workflowId, version }, now(), by.actor);
    registry.forget(tenantId);
    return {};
  };
}
