import type { Scope } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { Fault } from "../parts/faults.ts";
import { checkField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";

export function scopeList(scopes: readonly string[]): Html {
  return html`${scopes.map((scope) => html`<span class="scope">${scope}</span>`)}`;
}

export const chooseScope: Fault = { field: "scopes", error: "Choose at least one scope." };

export function scopeField(scopes: readonly Scope[], chosen: readonly string[], error: string | undefined): Html {
  return checkField({
    name: "scopes",
    label: "Scopes",
    hint: "What the key may do. None implies another.",
    choices: scopes.map(({ name, description }) => ({
      value: name,
      label: html`<code>${name}</code>`,
      hint: description,
    })),
    chosen,
    error,
  });
}
