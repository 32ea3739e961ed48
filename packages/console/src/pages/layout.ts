import type { Person } from "../http/route.ts";
import { scriptPath, sealPath, stylePath } from "./assets.ts";
import { type Html, html } from "./html.ts";
import { navigation } from "./navigation.ts";
import { roleList } from "./roles.ts";

/** What surrounds a page. */
interface Frame {
  readonly title: string;
  /** Undefined on pages for everybody. */
  readonly person?: Person | undefined;
  /** Path of the page, to mark it in the navigation. */
  readonly path?: string;
  /** Address that the browser goes on to at once. */
  readonly goOn?: string | undefined;
}

/** A whole page. */
export function layout({ title, person, path, goOn }: Frame, main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title} · Vidimus</title>
        <link rel="icon" type="image/svg+xml" href="${sealPath}" />
        <link rel="stylesheet" href="${stylePath}" />
        ${goOn !== undefined && html`<meta http-equiv="refresh" content="0; url=${goOn}" />`}
        <script type="module" src="${scriptPath}"></script>
      </head>
      <body class="${person ? "framed" : "alone"}">
        <a class="skip" href="#main">Skip to the content</a>
        ${person ? side(person, path) : html`<header><a class="mark" href="/">Vidimus</a></header>`}
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html> `;
}

function side(person: Person, path: string | undefined): Html {
  return html`<div class="side">
    <a class="mark" href="/">Vidimus</a>
    <nav aria-label="Main">
      ${navigation.map(({ heading, items }) => [
        heading !== undefined && html`<h2>${heading}</h2>`,
        html`<ul>
          ${items.map((item) => link(item, path))}
        </ul>`,
      ])}
    </nav>
    <div class="who">
      <b dir="auto">${person.session.name}</b>
      ${whereOf(person)}
      <form method="post" action="/sign-out"><button class="link">Sign out</button></form>
    </div>
  </div>`;
}

function link({ path, label }: { readonly path: string; readonly label: string }, current: string | undefined): Html {
  return path === current
    ? html`<li><a href="${path}" aria-current="page">${label}</a></li>`
    : html`<li><a href="${path}">${label}</a></li>`;
}

function whereOf({ current }: Person): Html {
  if (!current) return html`<span>member of no newsroom</span>`;
  return html`<span>${roleList(current.roles)} · <bdi>${current.tenantName}</bdi></span>`;
}
