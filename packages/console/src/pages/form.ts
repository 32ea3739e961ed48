import { type Html, html } from "./html.ts";

/** A line of text that a form asks for. */
interface TextField {
  readonly name: string;
  readonly label: string;
  /** Under the label. */
  readonly hint?: Html | string;
  /** What is wrong with what was typed. */
  readonly error?: string | undefined;
  /** The script fills it from the fragment of the URL, and sends the form. */
  readonly isCode?: true;
}

/** A field with its label, its hint and its error. */
export function textField({ name, label, hint, error, isCode }: TextField): Html {
  const described = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean);
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="field-error" id="${name}-error">${error}</p>`}
    <input
      id="${name}"
      name="${name}"
      required
      autocomplete="off"
      spellcheck="false"
      aria-describedby="${described.join(" ")}"
      aria-invalid="${error !== undefined ? "true" : "false"}"
      data-fragment="${isCode ? name : ""}"
    />
  </div>`;
}

/** What is wrong with a form, at its top: each fault with a link to its field. */
export function errorSummary(faults: readonly { readonly field: string; readonly error: string }[]): Html | undefined {
  if (faults.length === 0) return undefined;
  return html`<div class="note badnote" role="alert">
    <h2>This could not be done</h2>
    <ul>
      ${faults.map(({ field, error }) => html`<li><a href="#${field}">${error}</a></li>`)}
    </ul>
  </div>`;
}

/** A field that nobody sees. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}
