import type { StateKind, Transition, WorkflowDefinition } from "./definition.ts";
import { mayAct } from "./roles.ts";
import { type DocumentStanding, kindOf, actableStandings, type Standing } from "./standing.ts";

/** A transition that state, version and role allow; its guards are not checked yet. */
export interface Chosen {
  readonly transition: Transition;
  /** The version that the transition acts on, with its state before the transition. */
  readonly subject: Standing;
  readonly from: StateKind;
  readonly to: StateKind;
}

/**
 * The transitions that a role may take from where a document stands, in the order of the workflow.
 * One that can act on either of two versions is listed twice.
 */
export function legalTransitions(definition: WorkflowDefinition, document: DocumentStanding, role: string): Chosen[] {
  const standings = actableStandings(definition, document);
  return definition.transitions
    .filter(({ roles }) => mayAct(definition, role, roles))
    .flatMap((transition) => {
      const subjects = standings.filter(({ status }) => transition.from.includes(status));
      return subjects.map((subject) => choose(definition, transition, subject));
    });
}

export function choose(definition: WorkflowDefinition, transition: Transition, subject: Standing): Chosen {
  return { transition, subject, from: kindOf(definition, subject.status), to: kindOf(definition, transition.to) };
}

/**
 * Metadata of a refusal: the current version, its state, and the transitions that the role may
 * take.
 */
export function standingFacts(
  definition: WorkflowDefinition,
  document: DocumentStanding,
  role: string,
  { version, status }: Standing = document.head,
): Record<string, string> {
  const names = new Set(legalTransitions(definition, document, role).map(({ transition }) => transition.name));
  return { current_version: String(version), current_status: status, legal_transitions: [...names].join(",") };
}
