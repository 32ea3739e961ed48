import { DomainError } from "@vidimus/kit/errors";
import { mayTake, type StateKind, type Transition, type WorkflowDefinition } from "./definition.ts";

/** A version and its state. */
export interface Standing {
  readonly version: number;
  readonly status: string;
}

/** A document's newest version, and the last published one, if any. */
export interface DocumentStanding {
  readonly head: Standing;
  readonly lastPublished?: Standing;
}

/** The transition that a caller asks for, and their role. */
interface TransitionRequest {
  readonly name: string;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly role: string;
}

/** A transition that states, version and role allow; its guards are not checked yet. */
export interface Chosen {
  readonly transition: Transition;
  /** The version that it acts on, with its state before. */
  readonly subject: Standing;
  readonly from: StateKind;
  readonly to: StateKind;
}

/**
 * Finds the version that a named transition acts on: from the published or the withdrawn state the
 * last published version, otherwise the head. Where both are possible, the version that the caller
 * names decides.
 *
 * @throws DomainError `permission_denied` when the role may not take it; `conflict` when the caller
 *   names another version than the one it acts on; `failed_precondition` when there is no such
 *   transition or it does not start in the document's state
 */
export function chooseTransition(
  definition: WorkflowDefinition,
  document: DocumentStanding,
  request: TransitionRequest,
): Chosen {
  const transition = definition.transitions.find(({ name }) => name === request.name);
  if (!transition) throw new DomainError("failed_precondition", unknownTransition(definition, request.name));
  if (!mayTake(transition, request.role)) {
    const who = request.role === "" ? "a caller without a role" : `role "${request.role}"`;
    throw new DomainError("permission_denied", `${who} may not ${transition.name}`);
  }
  const subject = chooseVersion(definition, document, transition, request.expectedVersion);
  return { transition, subject, from: kindOf(definition, subject.status), to: kindOf(definition, transition.to) };
}

function chooseVersion(
  definition: WorkflowDefinition,
  document: DocumentStanding,
  transition: Transition,
  expectedVersion: number,
): Standing {
  const places = standings(definition, document);
  const candidates = places.filter(({ status }) => transition.from.includes(status));
  const named = candidates.find(({ version }) => version === expectedVersion);
  if (named) return named;
  const [candidate] = candidates;
  if (candidate || !places.some(({ version }) => version === expectedVersion)) {
    throw new DomainError("conflict", staleVersion(expectedVersion, candidate ?? document.head));
  }
  const where = places.map(({ version, status }) => `version ${version} is ${status}`).join(", ");
  throw new DomainError(
    "failed_precondition",
    `${transition.name} leads out of ${transition.from.join(", ")}, but ${where}`,
  );
}

/**
 * The versions that transitions can act on: the last published one while it is published or
 * withdrawn, and the head.
 */
function standings(definition: WorkflowDefinition, { head, lastPublished }: DocumentStanding): Standing[] {
  const isOut = lastPublished && ["published", "withdrawn"].includes(kindOf(definition, lastPublished.status));
  if (!isOut) return [head];
  return lastPublished.version === head.version ? [lastPublished] : [lastPublished, head];
}

function kindOf(definition: WorkflowDefinition, state: string): StateKind {
  const kind = definition.states.get(state);
  if (!kind) throw new TypeError(`workflow ${definition.workflowId} has no state "${state}"`);
  return kind;
}

function unknownTransition({ workflowId, version, transitions }: WorkflowDefinition, name: string): string {
  const names = transitions.map((transition) => transition.name).join(", ");
  return `workflow ${workflowId} version ${version} has no transition "${name.slice(0, 64)}"; it has ${names}`;
}

function staleVersion(expectedVersion: number, { version, status }: Standing): string {
  return `version ${expectedVersion} was expected, but version ${version} stands there, ${status}`;
}
