import { type Content, type Html, html } from "../../markup/html.ts";

interface Confirm {
  /** The question: `Revoke "Wire importer"?` */
  readonly title: Html | string;
  /** What the action does, and whether it can be undone. */
  readonly consequence: Content;
  /** URL to which the form is sent. */
  readonly action: string;
  readonly fields?: Content;
  readonly button: string;
  /** Whether the action takes something away. Its button is red then. */
  readonly isDanger?: true;
  /** URL of "Cancel". */
  readonly back: string;
  /** Shown above the title: an `errorSummary`. */
  readonly errors?: Content;
}

/** A page that asks before an action. It works without script, unlike a dialog. */
export function confirmPage({ title, consequence, action, fields, button, isDanger, back, errors }: Confirm): Html {
  return html`${errors}
    <h1 dir="auto">${title}</h1>
    <p class="lead">${consequence}</p>
    <form method="post" action="${action}">
      ${fields}
      <div class="actions">
        <button class="${isDanger ? "danger" : "primary"}">${button}</button>
        <a class="button" href="${back}">Cancel</a>
      </div>
    </form>`;
}
