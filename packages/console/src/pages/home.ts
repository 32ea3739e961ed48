import type { PersonRoute } from "../http/route.ts";
import { layout } from "./layout.ts";
import { html } from "../markup/html.ts";
import { whoYouAre } from "./who-you-are.ts";

/**
 * `GET /`: redirects to the tenant that was chosen last in this session, else to the person's first
 * one. A member of no tenant gets a page that says so.
 */
export function getHome(): PersonRoute {
  return {
    access: "signed in",
    method: "GET",
    url: "/",
    handle: async ({ person }) => {
      if (person.current) return { to: `/t/${person.current.tenantId}` };
      return { status: 200, page: layout({ title: "No newsroom", person }, html`${nowhere}${whoYouAre(person)}`) };
    },
  };
}

const nowhere = html`<h1>No newsroom</h1>
  <p class="lead">
    You are a member of no newsroom. Ask one of its owners for an invitation, then
    <a href="/invitation">accept it here</a>.
  </p>`;
