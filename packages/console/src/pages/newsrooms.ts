import type { Person, PersonRoute } from "../http/route.ts";
import type { Membership } from "../rpc/memberships.ts";
import { layout } from "./layout.ts";
import { type Column, dataTable } from "./parts/data-table.ts";
import { emptyState } from "./parts/empty-state.ts";
import { hidden } from "./parts/form.ts";
import { type Html, html } from "../markup/html.ts";
import { pageHead } from "./parts/page-head.ts";
import { state } from "./parts/state.ts";
import { roleList } from "./roles.ts";
import { whoYouAre } from "./who-you-are.ts";

/**
 * `GET /newsrooms`: the tenants of the person, and the name, the address and the actor by which
 * other members know the person.
 */
export function getNewsrooms(): PersonRoute {
  return {
    access: "signed in",
    method: "GET",
    url: "/newsrooms",
    handle: async ({ person }) => ({
      status: 200,
      page: layout({ title: "Newsrooms", person, path: "/newsrooms" }, newsroomsPage(person)),
    }),
  };
}

function newsroomsPage(person: Person): Html {
  const { memberships, current } = person;
  const count = memberships.length === 1 ? "1 newsroom" : `${memberships.length} newsrooms`;
  return html`${pageHead({ title: "Newsrooms", lead: "Those that you are a member of, and who you are in them." })}
    ${
      memberships.length === 0
        ? emptyState(
            "You are a member of no newsroom.",
            html`Ask one of its owners for an invitation, then <a href="/invitation">accept it here</a>.`,
          )
        : dataTable({ caption: count, columns: columnsFor(current), rows: memberships })
    }
    <h2>You</h2>
    ${whoYouAre(person)}`;
}

function columnsFor(current: Membership | undefined): Column<Membership>[] {
  return [
    {
      label: "Newsroom",
      cell: ({ tenantId, tenantName }) =>
        html`<a href="/t/${tenantId}" dir="auto">${tenantName}</a><br /><code class="q">${tenantId}</code>`,
    },
    { label: "Roles", cell: ({ roles }) => roleList(roles) },
    { label: "State", cell: ({ disabled }) => (disabled ? state("off", "disabled") : state("ok", "active")) },
    {
      label: "Now",
      cell: ({ tenantId, tenantName }) =>
        tenantId === current?.tenantId
          ? state("ok", "this one")
          : html`<form method="post" action="/tenant">
              ${hidden("tenant", tenantId)}<button aria-label="Open ${tenantName}">Open</button>
            </form>`,
    },
  ];
}
