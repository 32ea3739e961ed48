import type { Endpoint, PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { patiently } from "../../rpc/patiently.ts";
import { type Html, html } from "../../markup/html.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { answerPage } from "../parts/tenant-page.ts";
import { pingNote } from "./ping-result.ts";
import { readEndpoint } from "./read-endpoint.ts";

export interface TestEndpointDeps {
  readonly endpoints: Pick<EndpointCalls, "getEndpoint" | "testEndpoint">;
}

/** `POST /t/{tenant}/endpoints/{endpoint}/test`: posts a signed ping, and shows its result. */
export function testEndpoint({ endpoints }: TestEndpointDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/endpoints/:endpoint/test",
    right: "endpoints",
    handle: async (call) => {
      const request = { tenantId: call.tenant.tenantId, endpointId: call.params["endpoint"] ?? "" };
      const [endpoint, { ping }] = await Promise.all([
        readEndpoint(endpoints, call),
        endpoints.testEndpoint(request, patiently(call.rpc)),
      ]);
      return answerPage(call, { title: "Ping", main: pingPage(endpoint, ping, call) });
    },
  };
}

function pingPage({ endpointId, name, url }: Endpoint, ping: PingResult | undefined, { at }: TenantCall): Html {
  const here = at(`/endpoints/${endpointId}`);
  const another = (kind: string) =>
    html`<form method="post" action="${here}/test"><button class="${kind}">Post another ping</button></form>`;
  return html`${pageHead({
      title: html`A ping to “<bdi>${name}</bdi>”`,
      above: { label: "Endpoints", href: at("/endpoints") },
    })}
    <p class="lead"><code dir="ltr">${url}</code></p>
    ${pingNote(ping)}
    ${ping?.accepted && html`<p>What waits for the endpoint is sent at once. A paused endpoint stays paused.</p>`}
    <div class="actions">
      ${ping?.accepted ? [linkButton("To the endpoint", here, "primary"), another("")] : [another("primary"), linkButton("To the endpoint", here)]}
    </div>`;
}
