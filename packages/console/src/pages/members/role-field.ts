import { type Fault, errorAt } from "../parts/faults.ts";
import { checkField, textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";

/** Roles of the platform and its built-in workflow, with what they may do. */
const knownRoles = [
  { value: "owner", hint: "Everything; changes and removes members, invites to any role." },
  { value: "admin", hint: "API keys and endpoints; invites to any role but owner." },
  { value: "integrator", hint: "Endpoints, deliveries and replays." },
  { value: "chief", hint: "Writes, and removes published documents for good." },
  { value: "editor", hint: "Writes, approves, publishes and withholds." },
  { value: "writer", hint: "Writes, and hands in for approval." },
  { value: "legal", hint: "Withholds published documents, and removes them for good." },
] as const;

/** From field name to label; see `fields` of a route. */
export const roleLabels = { roles: "Roles", own: "Other roles" };

export const chooseRole: Fault = { field: "roles", error: "Choose at least one role." };

export function roleFields(chosen: readonly string[], mayGiveOwner: boolean, faults: readonly Fault[]): Html {
  const offered = knownRoles.filter(({ value }) => mayGiveOwner || value !== "owner");
  const own = chosen.filter((role) => !knownRoles.some(({ value }) => value === role));
  return html`${checkField({
    name: "roles",
    label: "Roles",
    choices: offered.map(({ value, hint }) => ({ value, label: value, hint })),
    chosen,
    error: errorAt(faults, "roles"),
  })}
  ${textField({
    name: "own",
    label: "Other roles (optional)",
    hint: "Of your own workflows, separated by commas.",
    value: own.join(", "),
    isOptional: true,
    error: errorAt(faults, "own"),
  })}`;
}

export function rolesOf(form: URLSearchParams): string[] {
  const own = (form.get("own") ?? "").split(",").map((role) => role.trim());
  return [...new Set([...form.getAll("roles"), ...own.filter((role) => role !== "")])];
}

/**
 * From the JSON pointer to a role of `rolesOf`, which access may refuse, to the name of the field
 * that the role came from.
 */
export function rolePointers(form: URLSearchParams): Readonly<Record<string, string>> {
  const ticked = form.getAll("roles");
  const each = rolesOf(form).map((role, at) => [`/roles/${at}`, ticked.includes(role) ? "roles" : "own"] as const);
  return { ...Object.fromEntries(each), "/roles": "roles" };
}
