import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import type { Guard, WorkflowDefinition } from "./definition.ts";

/** A definition as canonical JSON, the form that `parseDefinition` reads. */
export function definitionJson({ states, create, edit, transitions }: WorkflowDefinition): Buffer {
  const rolesOf = (state: string) => {
    const roles = edit.get(state);
    return roles ? { edit: [...roles] } : {};
  };
  return canonicalJson({
    ...(create ? { create: [...create] } : {}),
    states: Object.fromEntries([...states].map(([name, kind]) => [name, { kind, ...rolesOf(name) }])),
    transitions: transitions.map(({ name, from, to, roles, guards }) => {
      return { name, from: [...from], to, roles: [...roles], guards: guards.map(guardJson) };
    }),
  });
}

function guardJson(guard: Guard): JsonValue {
  switch (guard.kind) {
    case "metaPresent":
      return { metaPresent: [...guard.keys] };
    case "linkPresent":
      return { linkPresent: guard.rel };
    case "publishValid":
    case "slugFree":
    case "notEmbargoed":
    case "fourEyes":
    case "neverPublished":
      return guard.kind;
  }
}
