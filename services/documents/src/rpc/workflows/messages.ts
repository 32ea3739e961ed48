import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { defaultWorkflow } from "../../domain/workflow/default-workflow.ts";
import { definitionJson } from "../../domain/workflow/definition-json.ts";
import type { StoredWorkflow } from "../../domain/workflow/stored-workflow.ts";

export function toWorkflowMessage({ workflowId, version, definition, createdAt, createdBy }: StoredWorkflow) {
  return { workflowId, version, definitionJson: definition, createdAt: timestampFromDate(createdAt), createdBy };
}

export function builtInWorkflowMessage() {
  const { workflowId, version } = defaultWorkflow;
  return { workflowId, version, definitionJson: definitionJson(defaultWorkflow) };
}
