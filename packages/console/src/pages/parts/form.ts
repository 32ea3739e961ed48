import { type Content, type Html, html } from "../../markup/html.ts";

interface Field {
  readonly name: string;
  readonly label: string;
  /** Shown below the label. */
  readonly hint?: Content;
  /** Shown below the hint. */
  readonly error?: string | undefined;
}

interface TextField extends Field {
  /** What is in the field when the page opens: what was typed before, or what is stored. */
  readonly value?: string;
  readonly type?: "text" | "url" | "date" | "datetime-local" | "number" | "search";
  readonly isOptional?: true;
  /**
   * Most characters that the service takes. `maxlength` is twice as large: it counts code units, of
   * which a character has one or two, and a browser cuts longer text without saying so.
   */
  readonly max?: number;
  /** Earliest date. */
  readonly min?: string;
  /** Whether the script fills the field from the URL's fragment, and sends the form. */
  readonly isCode?: true;
}

export function textField(field: TextField): Html {
  const { name, value = "", type = "text", isOptional, max, min, isCode } = field;
  return around(
    field,
    html`<input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      dir="auto"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="${describedBy(field)}"
      aria-invalid="${invalid(field)}"
      data-fragment="${isCode ? name : ""}"
      ${max !== undefined && html`maxlength="${2 * max}"`}
      ${min !== undefined && html`min="${min}"`}
      ${!isOptional && html`required`}
    />`,
  );
}

export function areaField(
  field: Field & { readonly value?: string; readonly rows?: number; readonly isRequired?: true },
): Html {
  const { name, value = "", rows = 6, isRequired } = field;
  // HTML drops a line feed at the beginning of a textarea, so one is added.
  return around(
    field,
    html`<textarea
      id="${name}"
      name="${name}"
      rows="${rows}"
      dir="auto"
      spellcheck="false"
      aria-describedby="${describedBy(field)}"
      aria-invalid="${invalid(field)}"
      ${isRequired && html`required`}
    >
${value}</textarea>`,
  );
}

/** One of the values of a list, of radio buttons or of check boxes. */
export interface Choice {
  readonly value: string;
  readonly label: Content;
  /** Shown beside the label of a radio button or a check box. */
  readonly hint?: Content;
}

export function selectField(field: Field & { readonly value?: string; readonly choices: readonly Choice[] }): Html {
  const { name, value: chosen = "", choices } = field;
  const option = ({ value, label }: Choice) =>
    value === chosen
      ? html`<option value="${value}" selected>${label}</option>`
      : html`<option value="${value}">${label}</option>`;
  return around(
    field,
    html`<select id="${name}" name="${name}" aria-describedby="${describedBy(field)}" aria-invalid="${invalid(field)}">
      ${choices.map(option)}
    </select>`,
  );
}

interface Choices extends Field {
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
}

export function radioField(field: Choices): Html {
  return choices(field, "radio");
}

/** The check boxes share one name: `form.getAll` reads what was chosen. */
export function checkField(field: Choices): Html {
  return choices(field, "checkbox");
}

function choices(field: Choices, type: "radio" | "checkbox"): Html {
  const { name, label, hint, error, choices: offered, chosen } = field;
  const input = ({ value, label: words, hint: beside }: Choice, at: number) =>
    html`<label class="choice">
      <input
        type="${type}"
        id="${at === 0 ? name : `${name}-${at}`}"
        name="${name}"
        value="${value}"
        ${chosen.includes(value) && html`checked`}
      />
      <span>${words}${beside !== undefined && html` <small>${beside}</small>`}</span>
    </label>`;
  return html`<fieldset class="field" aria-describedby="${describedBy(field)}">
    <legend>${label}</legend>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="field-error" id="${name}-error">${error}</p>`} ${offered.map(input)}
  </fieldset>`;
}

function around({ name, label, hint, error }: Field, control: Html): Html {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="field-error" id="${name}-error">${error}</p>`} ${control}
  </div>`;
}

function describedBy({ name, hint, error }: Field): string {
  return [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean).join(" ");
}

function invalid({ error }: Field): string {
  return error === undefined ? "false" : "true";
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}
