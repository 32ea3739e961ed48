import { DomainError, type Violation } from "@vidimus/kit/errors";
import { initialStatus } from "../document/document.ts";
import { jsonPointer } from "../json/json-value.ts";
import { type Guard, publishedState, type StateKind, type Transition, withdrawnState } from "./definition.ts";
import type { WorkflowDefinition } from "./definition.ts";

const statesMax = 40;
const transitionsMax = 100;
/** Pattern of names of states, transitions, roles and workflows. */
export const namePattern = /^[a-z][a-z0-9_-]{0,31}$/;

/** States that every workflow has, whether its definition lists them or not. */
export const fixedStates: ReadonlyMap<string, StateKind> = new Map([
  [initialStatus, "working"],
  [publishedState, "published"],
  [withdrawnState, "withdrawn"],
  ["cancelled", "terminal"],
]);

type DefinitionBody = Omit<WorkflowDefinition, "workflowId" | "version">;

/**
 * Reads a definition `{"create"?: roles, "states"?: {name: {"kind", "edit"?: roles}},
 * "transitions": [{name, from, to, roles, guards?}]}`. A guard is its name, or for the two with an
 * argument `{"metaPresent": [keys]}` or `{"linkPresent": rel}`.
 *
 * Throws `invalid` with every fault and its JSON pointer.
 */
export function parseDefinition(value: unknown): DefinitionBody {
  const faults = new Faults();
  const members = faults.object(value, "", ["create", "states", "transitions"]);
  const create = members["create"] === undefined ? undefined : faults.names(members["create"], "/create", { min: 0 });
  const { states, edit } = parseStates(members["states"], faults);
  const transitions = parseTransitions(members["transitions"], states, faults);
  faults.finish();
  return { ...(create ? { create } : {}), states, edit, transitions };
}

function parseStates(value: unknown, faults: Faults): { states: Map<string, StateKind>; edit: Map<string, string[]> } {
  const states = new Map(fixedStates);
  const edit = new Map<string, string[]>();
  for (const [name, state] of Object.entries(value === undefined ? {} : faults.object(value, "/states"))) {
    const pointer = jsonPointer(["states", name]);
    faults.check(namePattern.test(name), pointer, `must be named like ${namePattern.source}`);
    const { kind, edit: roles } = faults.object(state, pointer, ["kind", "edit"]);
    const fixed = fixedStates.get(name);
    if (fixed) faults.check(kind === fixed, `${pointer}/kind`, `must be "${fixed}"`);
    else if (kind === "working" || kind === "terminal") states.set(name, kind);
    else faults.add(`${pointer}/kind`, 'must be "working" or "terminal"');
    if (roles === undefined) continue;
    edit.set(name, faults.names(roles, `${pointer}/edit`, { min: 0 }));
    faults.check(states.get(name) !== "terminal", `${pointer}/edit`, "is of a terminal state: nothing is edited in it");
  }
  faults.check(states.size <= statesMax, "/states", `must be at most ${statesMax}`);
  return { states, edit };
}

function parseTransitions(value: unknown, states: ReadonlyMap<string, StateKind>, faults: Faults): Transition[] {
  const transitions = faults
    .array(value, "/transitions", { max: transitionsMax })
    .map((entry, index) => parseTransition(entry, `/transitions/${index}`, states, faults));
  const names = transitions.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    faults.check(names.indexOf(name) === index, `/transitions/${index}/name`, "is there twice");
  }
  return transitions;
}

function parseTransition(
  value: unknown,
  pointer: string,
  states: ReadonlyMap<string, StateKind>,
  faults: Faults,
): Transition {
  const members = faults.object(value, pointer, ["name", "from", "to", "roles", "guards"]);
  const name = faults.name(members["name"], `${pointer}/name`);
  const from = faults.names(members["from"], `${pointer}/from`, { min: 1 });
  const to = faults.name(members["to"], `${pointer}/to`);
  const roles = faults.names(members["roles"], `${pointer}/roles`, { min: 0 });
  const guards = faults
    .array(members["guards"] ?? [], `${pointer}/guards`, { max: 20 })
    .flatMap((guard, index) => parseGuard(guard, `${pointer}/guards/${index}`, faults));
  checkWay(from, to, pointer, states, faults);
  return { name, from, to, roles, guards };
}

/**
 * No transition leads out of a terminal state, none from the published or withdrawn state to a
 * working one, and none from a working state to the withdrawn one.
 */
function checkWay(
  from: readonly string[],
  to: string,
  pointer: string,
  states: ReadonlyMap<string, StateKind>,
  faults: Faults,
): void {
  const target = states.get(to);
  if (!target) faults.add(`${pointer}/to`, "is no state of this workflow");
  for (const [index, state] of from.entries()) {
    const source = states.get(state);
    const at = `${pointer}/from/${index}`;
    const isOut = source === "published" || source === "withdrawn";
    if (!source) faults.add(at, "is no state of this workflow");
    else if (source === "terminal") faults.add(at, "is terminal: nothing leads out of it");
    else if (isOut && target === "working") faults.add(at, "leads to published, withdrawn and terminal states only");
    else if (!isOut && target === "withdrawn") faults.add(at, "was not published, so it cannot be withdrawn");
  }
}

function parseGuard(value: unknown, pointer: string, faults: Faults): Guard[] {
  switch (value) {
    case "publishValid":
    case "slugFree":
    case "notEmbargoed":
    case "fourEyes":
    case "neverPublished":
      return [{ kind: value }];
    default:
      return parseGuardWithArgument(value, pointer, faults);
  }
}

function parseGuardWithArgument(value: unknown, pointer: string, faults: Faults): Guard[] {
  const [entry, ...more] = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [kind, argument]: [string, unknown] = entry ?? ["", undefined];
  if (more.length === 0 && kind === "metaPresent") {
    return [{ kind, keys: faults.texts(argument, `${pointer}/metaPresent`) }];
  }
  if (more.length === 0 && kind === "linkPresent") {
    return [{ kind, rel: faults.text(argument, `${pointer}/linkPresent`) }];
  }
  faults.add(pointer, "is no guard of the closed list");
  return [];
}

/**
 * Collects faults. A faulty part is replaced by a harmless placeholder, so that the rest is
 * checked, too.
 */
class Faults {
  readonly #violations: Violation[] = [];

  add(pointer: string, message: string): void {
    this.#violations.push({ pointer, message });
  }

  check(holds: boolean, pointer: string, message: string): void {
    if (!holds) this.add(pointer, message);
  }

  object(value: unknown, pointer: string, members?: readonly string[]): Readonly<Record<string, unknown>> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.add(pointer, "must be an object");
      return {};
    }
    const record: Record<string, unknown> = Object.fromEntries(Object.entries(value));
    for (const key of Object.keys(record)) {
      this.check(members?.includes(key) ?? true, `${pointer}${jsonPointer([key])}`, "is not known here");
    }
    return record;
  }

  array(value: unknown, pointer: string, { max }: { max: number }): readonly unknown[] {
    if (Array.isArray(value) && value.length <= max) return value;
    this.add(pointer, `must be an array of at most ${max}`);
    return [];
  }

  text(value: unknown, pointer: string): string {
    if (typeof value === "string" && value.length > 0 && value.length <= 256) return value;
    this.add(pointer, "must be a string of 1 to 256 characters");
    return "";
  }

  texts(value: unknown, pointer: string): string[] {
    const texts = this.array(value, pointer, { max: 40 }).map((text, index) => this.text(text, `${pointer}/${index}`));
    this.check(texts.length > 0, pointer, "must not be empty");
    return texts;
  }

  name(value: unknown, pointer: string): string {
    if (typeof value === "string" && namePattern.test(value)) return value;
    this.add(pointer, `must be a name like ${namePattern.source}`);
    return "";
  }

  names(value: unknown, pointer: string, { min }: { min: number }): string[] {
    const names = this.array(value, pointer, { max: statesMax }).map((name, at) => this.name(name, `${pointer}/${at}`));
    this.check(names.length >= min, pointer, "must not be empty");
    return names;
  }

  finish(): void {
    if (this.#violations.length === 0) return;
    const message = this.#violations.map(({ pointer, message }) => `${pointer || "/"} ${message}`).join("; ");
    throw new DomainError("invalid", message, { violations: this.#violations });
  }
}
