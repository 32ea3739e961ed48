import type { Person } from "../http/route.ts";
import { scriptPath, sealPath, stylePath } from "./assets.ts";
import { type NavigationItem, navigationOf } from "./navigation.ts";
import { type Html, html } from "../markup/html.ts";
import { roleList } from "./roles.ts";

interface Frame {
  readonly title: string;
  /** The person whose navigation the page has; undefined for a page without navigation. */
  readonly person?: Person | undefined;
  /** Path of the page, to mark it in the navigation. */
  readonly path?: string;
  /** URL to which the browser redirects at once. */
  readonly goOn?: string | undefined;
}

export function layout({ title, person, path = "", goOn }: Frame, main: Html): Html {
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
        <main id="main" tabindex="-1">${person?.current?.disabled && disabledNote}${main}</main>
      </body>
    </html> `;
}

const disabledNote = html`<p class="note">This newsroom is disabled: it can be read, and nothing in it changes.</p>`;

function side(person: Person, path: string): Html {
  const groups = navigationOf(person.current);
  const here = currentItem(
    groups.flatMap(({ items }) => items),
    path,
  );
  return html`<div class="side">
    <a class="mark" href="/">Vidimus</a>
    <nav aria-label="Main">
      ${groups.map(({ heading, items }) => [
        heading !== undefined && html`<h2>${heading}</h2>`,
        html`<ul>
          ${items.map((item) => link(item, item === here))}
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

/** Every page of a tenant is below "Overview", so the longest path that matches counts. */
function currentItem(items: readonly NavigationItem[], path: string): NavigationItem | undefined {
  const isAbove = (item: NavigationItem) => path === item.path || path.startsWith(`${item.path}/`);
  const [longest] = items.filter(isAbove).toSorted((a, b) => b.path.length - a.path.length);
  return longest;
}

function link({ path, label }: NavigationItem, isCurrent: boolean): Html {
  return isCurrent
    ? html`<li><a href="${path}" aria-current="page">${label}</a></li>`
    : html`<li><a href="${path}">${label}</a></li>`;
}

function whereOf({ current, memberships }: Person): Html {
  if (!current) return html`<span>member of no newsroom</span>`;
  return html`<span>${roleList(current.roles)} · <bdi>${current.tenantName}</bdi></span>
    ${memberships.length > 1 && html`<a href="/newsrooms">Change newsroom</a>`}`;
}
