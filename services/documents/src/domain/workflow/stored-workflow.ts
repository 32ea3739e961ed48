import { parseJson } from "../json/parse-json.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { parseDefinition } from "./parse-definition.ts";

export interface StoredWorkflow {
  readonly workflowId: string;
  readonly version: number;
  /** Canonical JSON, see `parseDefinition`. */
  readonly definition: Uint8Array;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** The workflow version of new documents of a type. */
export interface Activation {
  readonly type: string;
  readonly workflowId: string;
  readonly version: number;
}

export function toDefinition({ workflowId, version, definition }: StoredWorkflow): WorkflowDefinition {
  return { workflowId, version, ...parseDefinition(parseJson(definition)) };
}
