import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { defaultWorkflow } from "../../domain/workflow/default-workflow.ts";
import { definitionJson } from "../../domain/workflow/definition-json.ts";
import type { StoredWorkflow } from "../../domain/workflow/stored-workflow.ts";

/** A version as its message. */
export function toWorkflowMessage({ workflowId, version, definition, createdAt, createdBy }: StoredWorkflow) {
  return { workflowId, version, definitionJson: definition, createdAt: timestampFromDate(createdAt), createdBy };
}

/** The workflow every tenant has, as its message. */
export function builtInWorkflowMessage() {
  const { workflowId, version } = defaultWorkflow;
  return { workflowId, version, definitionJson: definitionJson(defaultWorkflow) };
}
