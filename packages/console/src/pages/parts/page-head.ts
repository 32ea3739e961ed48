import { type Content, type Html, html } from "../../markup/html.ts";

interface PageHead {
  /**
   * Shown with `dir="auto"`, in the direction of its script, because a title may be text of users.
   */
  readonly title: Html | string;
  /** What the page is about, or what to know before using it; shown below the title. */
  readonly lead?: Content;
  /** Beside the title: links to other pages, or the state of what the page shows. */
  readonly aside?: Content;
  /** The list, or another page, to which this page belongs; linked above the title. */
  readonly above?: { readonly label: string; readonly href: string };
}

/** The head of a page: the list it belongs to, its title, its links or state, and its lead. */
export function pageHead({ title, lead, aside, above }: PageHead): Html {
  return html`${
      above &&
      html`<p class="above">
        <a href="${above.href}"><span aria-hidden="true">← </span>${above.label}</a>
      </p>`
    }
    <div class="head">
      <h1 dir="auto">${title}</h1>
      ${aside}
    </div>
    ${lead !== undefined && html`<p class="lead">${lead}</p>`}`;
}

/** A link in the form of a button. A page has at most one primary one. */
export function linkButton(label: string, href: string, kind: "primary" | "plain" = "plain"): Html {
  return html`<a class="button ${kind === "primary" ? "primary" : ""}" href="${href}">${label}</a>`;
}
