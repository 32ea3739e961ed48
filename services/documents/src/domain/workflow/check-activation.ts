import { DomainError } from "@vidimus/kit/errors";
import { initialStatus } from "../document/document.ts";
import { jsonPointer } from "../json/json-value.ts";
import { publishedState, type WorkflowDefinition } from "./definition.ts";
import { fixedStates } from "./parse-definition.ts";

/**
 * Checks that documents can reach the published state and all of a workflow's own states.
 *
 * @throws DomainError `failed_precondition` with reason `no_way_to_publish` when no transitions
 * lead from draft to usable, or `orphan_state` when none lead to one of the workflow's own states
 */
export function requireUsable(definition: WorkflowDefinition): void {
  const { workflowId, version, states } = definition;
  const reached = reachable(definition);
  const name = `workflow ${workflowId} version ${version}`;
  const remedy = `add a transition to it, from ${[...reached].join(" or ")}, in version ${version + 1}`;
  if (!reached.has(publishedState)) {
    const message = `${name} has no way to publish: no transitions lead from draft to ${publishedState}; ${remedy}`;
    throw new DomainError("failed_precondition", message, { reason: "no_way_to_publish" });
  }
  const orphans = [...states.keys()].filter((state) => !reached.has(state) && !fixedStates.has(state));
  const [orphan] = orphans;
  if (orphan === undefined) return;
  const message = `${name} has a state that no transitions lead to, ${orphan}: remove it, or ${remedy}`;
  const violations = orphans.map((state) => {
    return { pointer: jsonPointer(["states", state]), message: "no transitions lead to it from draft" };
  });
  throw new DomainError("failed_precondition", message, { reason: "orphan_state", violations });
}

function reachable({ transitions }: WorkflowDefinition): Set<string> {
  const reached = new Set<string>([initialStatus]);
  // The loop also visits the states that it adds.
  for (const state of reached) {
    for (const { from, to } of transitions) if (from.includes(state)) reached.add(to);
  }
  return reached;
}
