import { type Content, type Html, html } from "../../markup/html.ts";

interface PageHead {
  /** May be text of users, so it is shown in the direction of its script. */
  readonly title: Html | string;
  /** What the page is about, or what to know before using it; shown below the title. */
  readonly lead?: Content;
  /** Beside the title: links to other pages, or the state of what the page shows. */
  readonly aside?: Content;
  /** The list, or another page, to which this page belongs; linked above the title. */
  readonly above?: { readonly label: string; readonly href: string };
}

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

export function linkButton(label: string, href: string, kind: "primary" | "plain" = "plain"): Html {
  return html`<a class="button ${kind === "primary" ? "primary" : ""}" href="${href}">${label}</a>`;
}
