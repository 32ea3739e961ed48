import { type Content, type Html, html } from "../../markup/html.ts";

/** Replaces a list without rows. `next` says what to do then, mostly with a link. */
export function emptyState(what: Content, next?: Content): Html {
  return html`<div class="sheet empty">
    <p>${what}</p>
    ${next !== undefined && html`<p>${next}</p>`}
  </div>`;
}
