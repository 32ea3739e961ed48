import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls, MemberCalls } from "../../rpc/called-methods.ts";
import { type ActorNames, visibleNames } from "../parts/actor.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { healthFacts, settingFacts } from "./endpoint-facts.ts";
import { endpointState } from "./endpoint-state.ts";
import { troubleNote } from "./endpoint-trouble.ts";
import { readEndpoint } from "./read-endpoint.ts";

export interface ShowEndpointDeps {
  readonly endpoints: Pick<EndpointCalls, "getEndpoint">;
  readonly members: Pick<MemberCalls, "listMembers">;
}

export function showEndpoint({ endpoints, members }: ShowEndpointDeps): TenantRoute {
  return tenantPage({
    path: "/endpoints/:endpoint",
    right: "endpoints",
    load: async (call) => {
      const [endpoint, names] = await Promise.all([readEndpoint(endpoints, call), visibleNames(members, call)]);
      return { endpoint, names };
    },
    view: ({ endpoint, names }, call) => ({ title: endpoint.name, main: endpointPage(endpoint, names, call) }),
  });
}

const done = {
  stored: "The secret is not shown again.",
  changed: "The endpoint is changed. What is sent from now on follows its new settings.",
  paused: "The endpoint is paused. What it would get is held until somebody starts it.",
  started: "The endpoint is started. What was held for it is sent in order.",
};

function endpointPage(endpoint: Endpoint, names: ActorNames, { at, now, query }: TenantCall): Html {
  const { endpointId, name, url, description } = endpoint;
  const here = at(`/endpoints/${endpointId}`);
  return html`${doneNotice(query, done)}
    ${pageHead({
      title: name,
      aside: endpointState(endpoint, now),
      above: { label: "Endpoints", href: at("/endpoints") },
    })}
    <p class="lead"><code dir="ltr">${url}</code></p>
    ${description !== "" && html`<p dir="auto">${description}</p>`} ${troubleNote(endpoint, names, now)}
    ${actions(endpoint, here)}
    <h2>How it does</h2>
    ${facts(healthFacts(endpoint, now))}
    <p>
      <a href="${at(`/deliveries?endpoint=${endpointId}`)}">Deliveries to it</a> ·
      <a href="${at(`/replays?endpoint=${endpointId}`)}">Replays to it</a> ·
      <a href="${at(`/replays/new?endpoint=${endpointId}`)}">New replay</a> ·
      <a href="${at("/trust-list/verify")}">Verify a webhook</a>
    </p>
    <h2>Settings</h2>
    ${facts(settingFacts(endpoint))}`;
}

function actions({ disablement }: Endpoint, here: string): Html {
  return html`<div class="actions">
    ${disablement && html`<form method="post" action="${here}/start"><button class="primary">Start</button></form>`}
    <form method="post" action="${here}/test"><button>Post a ping</button></form>
    ${!disablement && html`<form method="post" action="${here}/pause"><button>Pause</button></form>`}
    ${linkButton("Edit", `${here}/edit`)} ${linkButton("Rotate the secret", `${here}/rotate`)}
    <a class="button danger" href="${here}/delete">Delete</a>
  </div>`;
}

function facts(rows: readonly (readonly [string, Content])[]): Html {
  return html`<dl>
    ${rows.map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
