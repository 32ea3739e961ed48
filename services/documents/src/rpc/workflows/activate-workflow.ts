import type { MethodImpl } from "@connectrpc/connect";
import type { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { DomainError } from "@vidimus/kit/errors";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { requireTenantId } from "@vidimus/kit/ids";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { typePattern } from "../../domain/types/add-generation.ts";
import { requireAdministrator } from "@vidimus/tenancy/administrator";
import type { TypeRegistry } from "../../domain/types/document-type.ts";
import { throwMissing } from "../../domain/document/throw-missing.ts";
import { requireUsable } from "../../domain/workflow/check-activation.ts";
import type { WorkflowRegistry } from "../../domain/workflow/workflow-registry.ts";
import type { WorkflowStore } from "../../store/workflow-store.ts";

interface ActivateWorkflowDeps {
  workflows: Pick<WorkflowStore, "activate">;
  registry: Pick<WorkflowRegistry, "at" | "forget">;
  types: Pick<TypeRegistry, "has">;
  now(): Date;
}

/** Sets the workflow version that new documents of a type get. */
export function activateWorkflow({
  workflows,
  registry,
  types,
  now,
}: ActivateWorkflowDeps): MethodImpl<typeof WorkflowService.method.activateWorkflow> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by, "change workflows");
    const tenantId = requireTenantId(request.tenantId);
    const { type, workflowId, version } = request.activation ?? throwMissing("activation");
    if (!typePattern.test(type)) {
      throw new DomainError("invalid", 'type must be two lowercase words joined by a slash, like "acme/recipe"');
    }
    requireUsable(await registry.at(tenantId, workflowId, version));
    if (!(await types.has(tenantId, type))) {
      const message = `type ${type} has no schema: add one with CreateSchemaGeneration, then activate its workflow`;
      throw new DomainError("failed_precondition", message, { reason: "type_without_schema" });
    }
    await workflows.activate(tenantId, { type, workflowId, version }, now(), by);
    registry.forget(tenantId);
    return {};
  };
}
