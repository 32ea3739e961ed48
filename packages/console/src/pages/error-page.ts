import type { ErrorText, FailedRequest } from "../http/error-handler.ts";
import type { Person } from "../http/route.ts";
import { layout } from "./layout.ts";
import { type Html, html } from "../markup/html.ts";

/**
 * A page that says what failed. For a signed-in person it has the navigation of the tenant in the
 * URL, else of the tenant that `/` opens.
 */
export function errorPage({ title, detail, next }: ErrorText, { id, person, url }: FailedRequest): Html {
  return layout(
    { title, person: person && inTenantOf(person, url) },
    html`<h1>${title}</h1>
      <p class="lead">${detail}</p>
      ${next !== undefined && html`<p>${next}</p>`}
      <p><a href="/">To the start</a></p>
      <p class="q">Request <code>${id}</code></p>`,
  );
}

function inTenantOf(person: Person, url: string): Person {
  const [, tenantId] = /^\/t\/(\w+)/.exec(url) ?? [];
  const here = person.memberships.find((membership) => membership.tenantId === tenantId);
  return here ? { ...person, current: here } : person;
}
