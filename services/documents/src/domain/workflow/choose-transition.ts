import { DomainError } from "@vidimus/kit/errors";
import { mayTake, type StateKind, type Transition, type WorkflowDefinition } from "./definition.ts";

/** Where a version stands. */
export interface Standing {
  readonly version: number;
  readonly status: string;
}

/** Where a document stands: its newest version, and the one that was published, if any. */
export interface DocumentStanding {
  readonly head: Standing;
  readonly live?: Standing;
}

/** What a caller wants done, and who they are. */
export interface TransitionRequest {
  readonly name: string;
  /** The version the caller saw. */
  readonly expectedVersion: number;
  readonly role: string;
}

/** A transition that may be taken as far as states, version and role go; its guards are not judged yet. */
export interface Chosen {
  readonly transition: Transition;
  /** The version that is moved, and where it stands now. */
  readonly moved: Standing;
  readonly from: StateKind;
  readonly to: StateKind;
}

/**
 * Finds what a named transition means for a document. Transitions out of the published or the withdrawn state act on
 * the live version, all others on the head; where both could, the version the caller names decides.
 *
 * Throws `permission_denied` for a role that may not, `conflict` when the named version is not the one that would be
 * moved, `failed_precondition` when the transition does not exist or does not lead out of where the document stands.
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
  const moved = chooseVersion(definition, document, transition, request.expectedVersion);
  return { transition, moved, from: kindOf(definition, moved.status), to: kindOf(definition, transition.to) };
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

/** The live version counts as a place of its own only while it is out or withdrawn; the head only while it is not live. */
function standings(definition: WorkflowDefinition, { head, live }: DocumentStanding): Standing[] {
  const isOut = live && ["published", "withdrawn"].includes(kindOf(definition, live.status));
  if (!isOut) return [head];
  return live.version === head.version ? [live] : [live, head];
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
