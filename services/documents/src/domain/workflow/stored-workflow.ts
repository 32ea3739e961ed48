import { parseJson } from "../json/parse-json.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { parseDefinition } from "./parse-definition.ts";

/** A version of a workflow as it is kept. */
export interface StoredWorkflow {
  readonly workflowId: string;
  readonly version: number;
  /** Canonical JSON, see `parseDefinition`. */
  readonly definition: Uint8Array;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** Which workflow version new documents of a type are stamped with. */
export interface Activation {
  readonly type: string;
  readonly workflowId: string;
  readonly version: number;
}

/** Reads a kept definition. */
export function toDefinition({ workflowId, version, definition }: StoredWorkflow): WorkflowDefinition {
  return { workflowId, version, ...parseDefinition(parseJson(definition)) };
}
