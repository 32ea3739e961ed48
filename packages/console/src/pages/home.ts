import type { Person, PersonRoute } from "../http/route.ts";
import type { Membership } from "../rpc/memberships.ts";
import { hidden } from "./form.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { roleList } from "./roles.ts";

/** `GET /` */
export function getHome(): PersonRoute {
  return {
    access: "signed in",
    method: "GET",
    url: "/",
    handle: async ({ person }) => ({ status: 200, page: homePage(person) }),
  };
}

function homePage(person: Person): Html {
  const { session, memberships, current } = person;
  return layout(
    { title: "Overview", person, path: "/" },
    html`<h1 dir="auto">${current?.tenantName ?? "No newsroom"}</h1>
      ${current ? leadOf(current) : nowhere}
      <h2>You</h2>
      <dl>
        <div>
          <dt>Name</dt>
          <dd dir="auto">${session.name}</dd>
        </div>
        ${
          session.address !== "" &&
          html`<div>
            <dt>Address</dt>
            <dd>${session.address}</dd>
          </div>`
        }
        <div>
          <dt>Signed in</dt>
          <dd>${wayOf(person)}</dd>
        </div>
        <div>
          <dt>In history</dt>
          <dd><code>${person.memberId}</code></dd>
        </div>
      </dl>
      <p><a href="/sessions">Your sessions</a></p>
      ${memberships.length > 0 && tenantTable(memberships, current)}`,
  );
}

function wayOf({ session }: Person): string {
  return session.way === "link" ? "with a one-time code" : `at ${new URL(session.identity.issuer).host}`;
}

function leadOf({ roles, disabled, tenantId }: Membership): Html {
  return html`<p class="lead">You are ${roleList(roles)} here.</p>
    ${disabled && html`<p class="note">This newsroom, <code>${tenantId}</code>, is disabled: it can be read, and nothing in it changes.</p>`}`;
}

const nowhere = html`<p class="lead">
  You are a member of no newsroom. Ask one of its owners for an invitation, then
  <a href="/invitation">accept it here</a>.
</p>`;

function tenantTable(memberships: readonly Membership[], current: Membership | undefined): Html {
  return html`<h2>Newsrooms</h2>
    <div class="sheet">
      <table>
        <caption>
          ${memberships.length === 1 ? "1 newsroom" : `${memberships.length} newsrooms`} that you are a member of
        </caption>
        <thead>
          <tr>
            <th scope="col">Newsroom</th>
            <th scope="col">Roles</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          ${memberships.map((membership) => tenantRow(membership, membership === current))}
        </tbody>
      </table>
    </div>`;
}

function tenantRow({ tenantId, tenantName, roles, disabled }: Membership, isCurrent: boolean): Html {
  return html`<tr>
    <td data-label="Newsroom">
      <div><b dir="auto">${tenantName}</b><br /><code class="q">${tenantId}</code></div>
    </td>
    <td data-label="Roles"><div>${roleList(roles)}</div></td>
    <td data-label="Now">
      <div>
        ${disabled && html`<span class="tag off">disabled</span> `}${
          isCurrent
            ? html`<span class="tag ok">open</span>`
            : html`<form method="post" action="/tenant">
                ${hidden("tenant", tenantId)}<button aria-label="Open ${tenantName}">Open</button>
              </form>`
        }
      </div>
    </td>
  </tr>`;
}
