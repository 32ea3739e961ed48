import { type Html, html } from "../../markup/html.ts";

/**
 * The filters of a list, sent by GET, so that the URL says what is shown. Fields come from
 * `form.ts`.
 */
export function filterForm(action: string, fields: readonly Html[]): Html {
  return html`<form class="filters" method="get" action="${action}">${fields}<button>Show</button></form>`;
}
