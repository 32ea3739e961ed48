import { type Html, html } from "../../markup/html.ts";

/**
 * The filters of a list. The form is sent by GET, so that the URL says what is shown. `form.ts`
 * makes the fields.
 */
export function filterForm(action: string, fields: readonly Html[]): Html {
  return html`<form class="filters" method="get" action="${action}">${fields}<button>Show</button></form>`;
}
