import { type Content, type Html, html } from "../../markup/html.ts";

/** Replaces a list without rows: what is missing, and a link or command for the next step. */
export function emptyState(what: Content, next?: Content): Html {
  return html`<div class="sheet empty">
    <p>${what}</p>
    ${next !== undefined && html`<p>${next}</p>`}
  </div>`;
}
