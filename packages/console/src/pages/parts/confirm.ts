import { type Content, type Html, html } from "../../markup/html.ts";

interface Confirm {
  /** The question: `Revoke "Wire importer"?` */
  readonly title: Html | string;
  /** What the action does, and whether it can be undone. */
  readonly consequence: Content;
  readonly action: string;
  readonly fields?: Content;
  readonly button: string;
  /** Whether the action takes something away. Its button is red then. */
  readonly isDanger?: true;
  /** URL of "Cancel". */
  readonly back: string;
  /** What the way back says instead of "Cancel", where the action itself cancels something. */
  readonly backLabel?: string;
  /** Shown above the title: an `errorSummary`. */
  readonly errors?: Content;
  /** Shown between the consequence and the fields: what else to know before. */
  readonly warning?: Content;
}

/** A page instead of a dialog, because a page works without script. */
export function confirmPage(page: Confirm): Html {
  const { title, consequence, action, fields, button, isDanger, back, backLabel = "Cancel", errors, warning } = page;
  return html`${errors}
    <h1 dir="auto">${title}</h1>
    <p class="lead">${consequence}</p>
    ${warning}
    <form method="post" action="${action}">
      ${fields}
      <div class="actions">
        <button class="${isDanger ? "danger" : "primary"}">${button}</button>
        <a class="button" href="${back}">${backLabel}</a>
      </div>
    </form>`;
}
