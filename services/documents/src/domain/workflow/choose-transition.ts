import { DomainError } from "@vidimus/kit/errors";
import type { Transition, WorkflowDefinition } from "./definition.ts";
import { type Chosen, choose, standingFacts } from "./legal-transitions.ts";
import { requireRole } from "./roles.ts";
import { type DocumentStanding, kindOf, actableStandings, type Standing } from "./standing.ts";

interface Choice {
  readonly name: string;
  /** The version that the caller saw. */
  readonly expectedVersion: number;
  readonly role: string;
}

/**
 * Finds the version that a named transition acts on: the last published version for a transition
 * out of the published or withdrawn state, the head for any other. When both are possible, the
 * version that the caller saw decides.
 *
 * @throws DomainError `permission_denied` when the role may not take the transition; `conflict`
 * with reason `stale_version` when the caller saw an outdated version, or the transition can act
 * only on another one; `failed_precondition` with reason `unknown_transition`, `wrong_state` or
 * `ended`
 */
export function chooseTransition(definition: WorkflowDefinition, document: DocumentStanding, request: Choice): Chosen {
  const transition = definition.transitions.find(({ name }) => name === request.name);
  if (!transition) {
    const metadata = standingFacts(definition, document, request.role);
    const message = unknownTransition(definition, request.name);
    throw new DomainError("failed_precondition", message, { reason: "unknown_transition", metadata });
  }
  requireRole(definition, request.role, transition.roles, transition.name);
  return choose(definition, transition, chooseVersion(definition, document, transition, request));
}

function chooseVersion(
  definition: WorkflowDefinition,
  document: DocumentStanding,
  transition: Transition,
  { expectedVersion, role }: Choice,
): Standing {
  const standings = actableStandings(definition, document);
  const candidates = standings.filter(({ status }) => transition.from.includes(status));
  const named = candidates.find(({ version }) => version === expectedVersion);
  if (named) return named;
  const [candidate] = candidates;
  const seen = standings.find(({ version }) => version === expectedVersion);
  if (candidate || !seen) {
    const there = candidate ?? document.head;
    throw staleVersion(expectedVersion, there, standingFacts(definition, document, role, there));
  }
  if (standings.every(({ status }) => kindOf(definition, status) === "terminal")) throw ended(document.head);
  const where = standings.map(({ version, status }) => `version ${version} is ${status}`).join(", ");
  throw new DomainError(
    "failed_precondition",
    `${transition.name} leads out of ${transition.from.join(", ")}, but ${where}`,
    { reason: "wrong_state", metadata: standingFacts(definition, document, role, seen) },
  );
}

function unknownTransition({ workflowId, version, transitions }: WorkflowDefinition, name: string): string {
  const names = transitions.map((transition) => transition.name).join(", ");
  return `workflow ${workflowId} version ${version} has no transition "${name.slice(0, 64)}"; it has ${names}`;
}

/** The refusal of a request whose caller saw another version than the current one. */
export function staleVersion(
  expectedVersion: number,
  { version, status }: Standing,
  metadata: Readonly<Record<string, string>>,
): DomainError {
  const message = `version ${expectedVersion} was expected, but version ${version} stands there, ${status}`;
  return new DomainError("conflict", message, { reason: "stale_version", metadata });
}

/** The refusal of a change of a document in a terminal state. */
export function ended({ version, status }: Standing): DomainError {
  const metadata = { current_version: String(version), current_status: status };
  const message = `the document is ${status}, and nothing leads out of that`;
  return new DomainError("failed_precondition", message, { reason: "ended", metadata });
}
