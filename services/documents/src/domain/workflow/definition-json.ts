import { canonicalJson } from "../json/canonical-json.ts";
import type { JsonValue } from "../json/json-value.ts";
import type { Guard, WorkflowDefinition } from "./definition.ts";

/** A definition as canonical JSON, the form that `parseDefinition` reads. */
export function definitionJson({ states, transitions }: WorkflowDefinition): Buffer {
  return canonicalJson({
    states: Object.fromEntries([...states].map(([name, kind]) => [name, { kind }])),
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
