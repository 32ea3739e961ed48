import type { Endpoint, ListEndpointsResponse } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption } from "../parts/pager.ts";
import { type Part, partOf, showPart } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { endpointState, lagOf, lastAccepted } from "./endpoint-state.ts";

export interface ListEndpointsDeps {
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

export function listEndpoints({ endpoints }: ListEndpointsDeps): TenantRoute {
  return tenantPage({
    path: "/endpoints",
    right: "endpoints",
    load: (call) => partOf(call, "delivery", endpoints.listEndpoints({ tenantId: call.tenant.tenantId }, call.rpc)),
    view: (found, call) => ({ title: "Endpoints", main: endpointsPage(found, call) }),
  });
}

const lead = "Each endpoint is a receiver to which everything that is published or withdrawn is posted, signed.";

const done = {
  deleted: "The endpoint is deleted, with everything that waited for it.",
  stored: "The secret is not shown again. The endpoint is in the list.",
};

function endpointsPage(found: Part<ListEndpointsResponse>, call: TenantCall): Html {
  const { at, query } = call;
  return html`${doneNotice(query, done)}
  ${pageHead({ title: "Endpoints", lead, aside: linkButton("New endpoint", at("/endpoints/new"), "primary") })}
  ${showPart(found, ({ endpoints }) => rowsOf(endpoints, call))}`;
}

function rowsOf(found: readonly Endpoint[], call: TenantCall): Html {
  if (found.length === 0) {
    return emptyState(
      "No endpoint is registered, so nothing is posted.",
      html`A site or a program that wants to hear of publications needs one:
        <a href="${call.at("/endpoints/new")}">register an endpoint</a>.`,
    );
  }
  const page = { from: 1, pageToken: "", nextPageToken: "", count: found.length };
  return dataTable({
    caption: caption(page, "endpoint", "endpoints", "oldest first"),
    columns: columnsFor(call),
    rows: found,
  });
}

function columnsFor({ at, now }: TenantCall): Column<Endpoint>[] {
  return [
    {
      label: "Name",
      cell: ({ endpointId, name, url }) =>
        html`<a href="${at(`/endpoints/${endpointId}`)}" dir="auto">${name}</a><br /><span class="q" dir="ltr"
            >${url}</span
          >`,
    },
    { label: "State", cell: (endpoint) => endpointState(endpoint, now) },
    { label: "Waiting", cell: (endpoint) => lagOf(endpoint, now) },
    { label: "Last accepted", cell: (endpoint) => lastAccepted(endpoint, now) },
    {
      label: "Look",
      isQuiet: true,
      cell: ({ endpointId, name }) =>
        html`<a href="${at(`/deliveries?endpoint=${endpointId}`)}" aria-label="Deliveries to ${name}">Deliveries</a>`,
    },
  ];
}
