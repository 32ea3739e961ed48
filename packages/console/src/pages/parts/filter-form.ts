import { type Html, html } from "../../markup/html.ts";

/**
 * The form is sent by GET, so that the URL says what is shown.
 *
 * @param isNarrowed whether a filter is set, so that a link that shows all is of use
 */
export function filterForm(action: string, fields: readonly Html[], isNarrowed = false): Html {
  return html`<form class="filters" method="get" action="${action}">
    ${fields}<button>Show</button>${isNarrowed && html` <a class="button" href="${action}">Show all</a>`}
  </form>`;
}
