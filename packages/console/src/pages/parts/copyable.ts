import { type Html, html } from "../../markup/html.ts";

/**
 * A secret to copy, at most one on a page. Without script it can only be selected. The script
 * empties the field when the page is left, so that "back" does not show the secret again.
 */
export function copyableSecret(label: string, secret: string): Html {
  return html`<div class="field">
    <label for="secret">${label}</label>
    <div class="copy">
      <textarea id="secret" rows="2" readonly data-secret autocomplete="off" spellcheck="false">${secret}</textarea>
      ${copyButton("secret", label)}
    </div>
  </div>`;
}

/** @param id of the element whose text the script copies; without script the button is hidden */
function copyButton(id: string, label: string, words = "Copy"): Html {
  const said = words === "Copy" ? `Copy: ${label}` : words;
  return html`<button type="button" data-copy="${id}" aria-label="${said}" hidden>${words}</button>`;
}

interface CodeBlock {
  readonly id: string;
  /** For screen readers, because the block can be scrolled by keyboard. */
  readonly label: string;
  readonly code: string;
  readonly isSecret?: true;
  /**
   * Whether `code` is only a part. The block then has no copy button, because a copy of the part
   * would be taken for the whole.
   */
  readonly isPart?: true;
  /** What the copy button says, where a page has several; "Copy" by default. */
  readonly copy?: string;
}

export function codeBlock({ id, label, code, isSecret, isPart, copy }: CodeBlock): Html {
  return html`<div class="code">
    <pre id="${id}" tabindex="0" role="region" aria-label="${label}" ${isSecret && html`data-secret`}>${code}</pre>
    ${!isPart && copyButton(id, label, copy)}
  </div>`;
}
