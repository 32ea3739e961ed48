import { type Html, html } from "../../markup/html.ts";

interface Copyable {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /**
   * Whether the script empties the field when the page is left, so that "back" does not show the
   * value again.
   */
  readonly isSecret?: true;
}

/**
 * A line to copy. Its button appears when the script runs; without a script the line can be
 * selected.
 */
export function copyable({ id, label, value, isSecret }: Copyable): Html {
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <div class="copy">
      <input id="${id}" class="mono" readonly value="${value}" ${isSecret && html`data-secret autocomplete="off"`} />
      ${copyButton(id, label)}
    </div>
  </div>`;
}

/** A button that copies the text of another element; hidden without script. */
function copyButton(id: string, label: string): Html {
  return html`<button type="button" data-copy="${id}" aria-label="Copy: ${label}" hidden>Copy</button>`;
}

interface CodeBlock {
  readonly id: string;
  /** For screen readers, because the block can be scrolled by keyboard. */
  readonly label: string;
  readonly code: string;
  readonly isSecret?: true;
}

/** Code or a command to copy. */
export function codeBlock({ id, label, code, isSecret }: CodeBlock): Html {
  return html`<div class="code">
    <pre id="${id}" tabindex="0" role="region" aria-label="${label}" ${isSecret && html`data-secret`}>${code}</pre>
    ${copyButton(id, label)}
  </div>`;
}
