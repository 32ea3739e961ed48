import type { StateKind, WorkflowDefinition } from "./definition.ts";

export interface Standing {
  readonly version: number;
  readonly status: string;
}

/** A document's newest version, and the last published one, if any. */
export interface DocumentStanding {
  readonly head: Standing;
  readonly lastPublished?: Standing;
}

export function standingOf({ version, status, lastPublished }: Standing & { lastPublished?: Standing }) {
  return { head: { version, status }, ...(lastPublished ? { lastPublished } : {}) };
}

/**
 * The versions that transitions can act on: the head, and the last published version while it is
 * published or withdrawn.
 */
export function actableStandings(
  definition: WorkflowDefinition,
  { head, lastPublished }: DocumentStanding,
): Standing[] {
  const isOut = lastPublished && ["published", "withdrawn"].includes(kindOf(definition, lastPublished.status));
  if (!isOut) return [head];
  return lastPublished.version === head.version ? [lastPublished] : [lastPublished, head];
}

export function kindOf(definition: WorkflowDefinition, state: string): StateKind {
  const kind = definition.states.get(state);
  if (!kind) throw new TypeError(`workflow ${definition.workflowId} has no state "${state}"`);
  return kind;
}
