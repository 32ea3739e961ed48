import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Delivery } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { publishedElsewhere } from "../api-docs.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { errorSummary, type Outcome, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption, type ListPage, pager, positionOf } from "../parts/pager.ts";
import { type Part, partOf, showPart } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { timeAgo } from "../parts/times.ts";
import { deliveryFilters, filterLabels } from "./delivery-filters.ts";
import { isNarrowed, queryFields, readDeliveryQuery, requestOf } from "./delivery-query.ts";
import { attempts, deliveryState } from "./delivery-state.ts";
import { endpointLabel } from "./endpoint-label.ts";
import { outcomeOf } from "../parts/outcome.ts";

export interface ListDeliveriesDeps {
  readonly deliveries: Pick<DeliveryCalls, "listDeliveries">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

interface Found extends ListPage {
  readonly rows: readonly Delivery[];
}

interface Answered {
  readonly found: Part<Outcome<Found>>;
  readonly names: EndpointNames;
}

const pageRows = 50;

export function listDeliveries({ deliveries, endpoints }: ListDeliveriesDeps): TenantRoute {
  return tenantPage({
    path: "/deliveries",
    right: "endpoints",
    load: async (call): Promise<Answered> => {
      const [found, names] = await Promise.all([
        partOf(call, "delivery", find(deliveries, call)),
        partOf(call, "delivery", endpointNames(endpoints, call)),
      ]);
      return { found, names: "value" in names ? names.value : new Map<string, string>() };
    },
    view: (answered, call) => {
      const isRefused = faultsOf(answered).length > 0;
      return { title: "Deliveries", main: listPage(answered, call), status: isRefused ? 400 : 200 };
    },
  });
}

async function find(deliveries: ListDeliveriesDeps["deliveries"], call: TenantCall): Promise<Outcome<Found>> {
  const request = requestOf(readDeliveryQuery(call.query));
  if ("faults" in request) return request;
  const position = positionOf(call.query);
  const { tenantId } = call.tenant;
  const whole = { ...request.value, tenantId, limit: pageRows, pageToken: position.pageToken };
  const answer = await refusable(deliveries.listDeliveries(whole, call.rpc), queryFields);
  if ("faults" in answer) return answer;
  const { deliveries: rows, nextPageToken } = answer.value;
  return { value: { ...position, rows, count: rows.length, nextPageToken } };
}

function faultsOf({ found }: Answered) {
  return "value" in found && "faults" in found.value ? found.value.faults : [];
}

const lead =
  "What became of everything that was to be posted to your endpoints, but for pings. Finished deliveries are kept for 30 days.";

function listPage(answered: Answered, call: TenantCall): Html {
  const { found, names } = answered;
  const faults = faultsOf(answered);
  return html`${errorSummary(faults, filterLabels)}
  ${pageHead({ title: "Deliveries", lead, aside: linkButton("Replays", call.at("/replays")) })}
  ${deliveryFilters(call, names, faults)}
  ${showPart(found, (outcome) => ("value" in outcome ? rowsOf(outcome.value, names, call) : html``))}`;
}

function rowsOf(found: Found, names: EndpointNames, call: TenantCall): Html {
  if (found.count === 0) {
    const asked = readDeliveryQuery(call.query);
    const isPing = asked.webhook.startsWith("png_");
    return isNarrowed(asked)
      ? emptyState(
          isPing ? "Pings are answered at once, and are not kept as deliveries." : "No delivery fits.",
          html`<a href="${call.at("/deliveries")}">Show all deliveries</a>`,
        )
      : emptyState(
          "Nothing was delivered yet.",
          html`A delivery begins when something is published or withdrawn and an endpoint wants to hear of it.
          ${publishedElsewhere}`,
        );
  }
  return html`${dataTable({
    caption: caption(found, "delivery", "deliveries", "newest first"),
    columns: columnsFor(names, call),
    rows: found.rows,
  })}
  ${pager(call.url, found)}`;
}

function columnsFor(names: EndpointNames, call: TenantCall): Column<Delivery>[] {
  const { at, now } = call;
  return [
    {
      label: "Webhook",
      cell: (delivery) =>
        html`<a href="${at(`/deliveries/${delivery.deliveryId}`)}">${delivery.event} of ${subjectOf(delivery, names)}</a
          ><br /><code class="q">${delivery.webhookId}</code>`,
    },
    { label: "About", cell: (delivery) => versionOf(delivery, call) },
    {
      label: "To",
      cell: ({ endpointId }) => {
        const label = endpointLabel(names, endpointId);
        return names.has(endpointId) ? html`<a href="${at(`/endpoints/${endpointId}`)}">${label}</a>` : label;
      },
    },
    { label: "State", cell: (delivery) => deliveryState(delivery) },
    {
      label: "Last attempt",
      cell: ({ lastAttempt, attemptCount }) =>
        lastAttempt
          ? html`${outcomeOf(lastAttempt)}${attemptCount > 1 && html`<br /><small>after ${attempts(attemptCount)}</small>`}`
          : "none yet",
    },
    { label: "Stored", cell: ({ createdAt }) => createdAt && timeAgo(timestampDate(createdAt), now) },
  ];
}

/** A delivery without a document is a notice about an endpoint. */
function subjectOf({ documentId, aboutEndpointId }: Delivery, names: EndpointNames): Html {
  return documentId === "" ? endpointLabel(names, aboutEndpointId) : html`<code>${documentId}</code>`;
}

function versionOf({ documentId, documentType, version }: Delivery, { at, query }: TenantCall): Html | undefined {
  if (documentId === "") return undefined;
  const all = html`<br /><a
      href="${at(`/deliveries?document=${documentId}`)}"
      aria-label="Its deliveries: document ${documentId}"
      >Its deliveries</a
    >`;
  const isOnly = readDeliveryQuery(query).document === documentId;
  return html`<span dir="auto">${documentType}</span>, version ${version.toString()}${!isOnly && all}`;
}
