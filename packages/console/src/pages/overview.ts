import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { CountDeliveriesResponse } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../http/route.ts";
import type { AccessCalls, DeliveryCalls, EndpointCalls, MemberCalls } from "../rpc/called-methods.ts";
import { publishedElsewhere } from "./api-docs.ts";
import { type Right, roleFor } from "../domain/rights.ts";
import { deliveriesByHour, givenUpNotice, isQuiet } from "./deliveries/deliveries-by-hour.ts";
import { namedTrouble } from "./endpoints/endpoint-trouble.ts";
import { listedEndpoints } from "./endpoints/read-endpoint.ts";
import { keyNotice } from "./keys/key-notice.ts";
import { type ActorNames, visibleNames } from "./parts/actor.ts";
import { type Html, html } from "../markup/html.ts";
import { doneNotice } from "./parts/notice.ts";
import { pageHead } from "./parts/page-head.ts";
import { type Part, partOf, showPart } from "./parts/service-down.ts";
import { tenantPage } from "./parts/tenant-page.ts";
import { roleList } from "./roles.ts";

interface OverviewDeps {
  readonly access: Pick<AccessCalls, "listApiKeys">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
  readonly deliveries: Pick<DeliveryCalls, "countDeliveries">;
  readonly members: Pick<MemberCalls, "listMembers">;
}

/** Endpoints, hours and keys are undefined for a reader without the right to see them. */
interface Overview {
  readonly endpoints: Part<readonly Endpoint[]> | undefined;
  readonly hours: Part<CountDeliveriesResponse> | undefined;
  readonly keys: readonly ApiKey[] | undefined;
  readonly names: ActorNames;
}

/**
 * `GET /t/{tenant}`: shows what needs attention, and below it the deliveries of the last 24 hours.
 */
export function getOverview(deps: OverviewDeps): TenantRoute {
  return tenantPage({
    path: "",
    right: "member",
    load: async (call): Promise<Overview> => {
      const seesDeliveries = may(call, "endpoints");
      const [endpoints, hours, keys, names] = await Promise.all([
        seesDeliveries ? partOf(call, "delivery", listedEndpoints(deps.endpoints, call)) : undefined,
        seesDeliveries ? partOf(call, "delivery", lastDay(deps, call)) : undefined,
        may(call, "keys") ? validKeys(deps, call) : undefined,
        visibleNames(deps.members, call),
      ]);
      return { endpoints, hours, keys, names };
    },
    view: (data, call) => ({ title: "Overview", main: overviewPage(data, call) }),
  });
}

function may({ tenant: { roles } }: TenantCall, right: Right): boolean {
  return roleFor(right, roles) !== undefined;
}

async function lastDay({ deliveries }: OverviewDeps, { tenant: { tenantId }, rpc }: TenantCall) {
  return deliveries.countDeliveries({ tenantId }, rpc);
}

/** All valid keys: a tenant has at most 50. */
async function validKeys({ access }: OverviewDeps, { tenant: { tenantId }, rpc }: TenantCall) {
  return (await access.listApiKeys({ tenantId, limit: 50, liveOnly: true }, rpc)).apiKeys;
}

function overviewPage({ endpoints, hours, keys, names }: Overview, call: TenantCall): Html {
  const { tenantName, roles } = call.tenant;
  const found = endpoints && "value" in endpoints ? endpoints.value : [];
  const actors = new Map([...names, ...(keys ?? []).map(({ prefix, name }) => [`key:${prefix}`, name] as const)]);
  const troubles = (tone: "bad" | "wait") =>
    found.flatMap((endpoint) => namedTrouble(tone, endpoint, actors, call) ?? []);
  const counted = hours && "value" in hours ? hours.value : undefined;
  const givenUp = counted && givenUpNotice(counted, call);
  const notices = [
    ...troubles("bad"),
    ...(givenUp ? [givenUp] : []),
    ...troubles("wait"),
    ...(keys ?? []).flatMap((key) => keyNotice(key, call) ?? []),
  ];
  const isAllSeen = endpoints !== undefined && "value" in endpoints && counted !== undefined;
  const done = {
    accepted: `The invitation is accepted: you are ${roleList(roles)} here now.`,
    had: "The invitation is accepted. You had its roles already: nothing has changed.",
  };
  return html`${doneNotice(call.query, done)}
  ${pageHead({ title: tenantName, lead: html`You are ${roleList(roles)} here.` })}
  ${endpoints && showPart(endpoints, () => html``)} ${notices}
  ${isAllSeen && notices.length === 0 && html`<p>Nothing needs you now.</p>`}
  ${counted && [isQuiet(counted) && html`<p>${publishedElsewhere}</p>`, deliveriesByHour(counted)]}`;
}
