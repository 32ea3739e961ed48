import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import type { TypeRegistry } from "../../domain/types/document-type.ts";
import type { WorkflowRegistry } from "../../domain/workflow/workflow-registry.ts";
import type { WorkflowStore } from "../../store/workflow-store.ts";
import { activateWorkflow } from "./activate-workflow.ts";
import { createWorkflowVersion } from "./create-workflow-version.ts";
import { getWorkflowVersion } from "./get-workflow-version.ts";
import { listWorkflowActivations } from "./list-workflow-activations.ts";
import { listWorkflows } from "./list-workflows.ts";

interface WorkflowRouteDeps {
  workflows: WorkflowStore;
  registry: WorkflowRegistry;
  types: Pick<TypeRegistry, "has">;
  now(): Date;
}

export function workflowRoute(deps: WorkflowRouteDeps): TeamsRoute {
  const methods = route(WorkflowService, {
    createWorkflowVersion: createWorkflowVersion(deps),
    getWorkflowVersion: getWorkflowVersion(deps),
    listWorkflows: listWorkflows(deps),
    activateWorkflow: activateWorkflow(deps),
    listWorkflowActivations: listWorkflowActivations(deps),
  });
  return teamsRoute(methods, {
    createWorkflowVersion: "write",
    getWorkflowVersion: "read",
    listWorkflows: "read",
    activateWorkflow: "write",
    listWorkflowActivations: "read",
  });
}
