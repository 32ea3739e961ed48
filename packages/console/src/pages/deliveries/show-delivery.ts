import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { errorSummary, type Fault } from "../parts/faults.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { type Part, partOf } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { attemptLine } from "./attempt-line.ts";
import { deliveryState } from "./delivery-state.ts";
import { endpointLabel } from "./endpoint-label.ts";
import { saidIn, sentRequest } from "./sent-request.ts";
import { sentNote } from "./sent-note.ts";

export interface ShowDeliveryDeps {
  readonly deliveries: Pick<DeliveryCalls, "getDelivery">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

export interface ShownDelivery {
  readonly delivery: Delivery;
  readonly attempts: readonly DeliveryAttempt[];
  readonly request: Part<DeliveryRequest | undefined>;
  readonly names: EndpointNames;
}

export function showDelivery(deps: ShowDeliveryDeps): TenantRoute {
  return tenantPage({
    path: "/deliveries/:delivery",
    right: "endpoints",
    load: (call) => readDelivery(deps, call),
    view: (shown, call) => ({ title: titleOf(shown), main: deliveryPage(shown, call) }),
  });
}

/**
 * The delivery that the URL names, with its request. The request is asked for separately, so that
 * the attempts are shown even while the services from which it is computed are unavailable.
 */
export async function readDelivery(
  { deliveries, endpoints }: ShowDeliveryDeps,
  call: TenantCall,
): Promise<ShownDelivery> {
  const name = { tenantId: call.tenant.tenantId, deliveryId: call.params["delivery"] ?? "" };
  const withRequest = deliveries.getDelivery({ ...name, includeRequest: true }, call.rpc);
  const [{ delivery, attempts }, request, names] = await Promise.all([
    deliveries.getDelivery(name, call.rpc),
    partOf(
      call,
      "that keeps snapshots or signatures",
      withRequest.then(({ request: found }) => found),
    ),
    endpointNames(endpoints, call),
  ]);
  if (!delivery) throw new Error("GetDelivery answered no delivery");
  return { delivery, attempts, request, names };
}

export function titleOf({ delivery: { event }, request }: ShownDelivery): string {
  const body = "value" in request ? request.value?.body : undefined;
  return (body && saidIn(body).title) || event;
}

export function deliveryPage(shown: ShownDelivery, call: TenantCall, faults: readonly Fault[] = []): Html {
  const { delivery, attempts, request, names } = shown;
  const { at } = call;
  return html`${errorSummary(faults)} ${faults.length === 0 && sentNote(delivery, call.query)}
    ${pageHead({
      title: titleOf(shown),
      aside: deliveryState(delivery),
      above: { label: "Deliveries", href: at("/deliveries") },
    })}
    <p class="lead">${leadOf(delivery, names)}</p>
    ${sendAgain(delivery, at)}
    <div class="halves">${attemptLine(delivery, attempts, call.now)} ${sentRequest(request, call)}</div>
    <p><a href="${at("/trust-list/verify")}">Verify a webhook</a> as your receiver got it</p>
    <h2>What it is</h2>
    <dl>
      ${factsOf(delivery, names, at).map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>`;
}

function leadOf({ event, documentType, version, sequence, documentId, endpointId }: Delivery, names: EndpointNames) {
  const document =
    documentId !== "" &&
    html` · <span dir="auto">${documentType}</span>, version ${version.toString()} · sequence ${sequence.toString()}`;
  return html`<code>${event}</code> to ${endpointLabel(names, endpointId)}${document}`;
}

/**
 * Undefined for a held delivery, because delivery refuses to send it while its endpoint is disabled
 * or the endpoint's secret is lost.
 */
function sendAgain({ deliveryId, state }: Delivery, at: TenantCall["at"]): Html | undefined {
  if (state === "held") return undefined;
  return html`<form method="post" action="${at(`/deliveries/${deliveryId}/again`)}">
    ${onceField()}
    <div class="actions"><button class="primary">Send again now</button></div>
    <p class="hint">
      ${
        state === "pending"
          ? "Its next attempt is made at once. What goes before it by itself still goes first."
          : "One attempt is made now, with the same webhook id. None follows by itself."
      }
    </p>
  </form>`;
}

function factsOf(delivery: Delivery, names: EndpointNames, at: TenantCall["at"]): (readonly [string, Content])[] {
  const { endpointId, documentId, webhookId, deliveryId, aboutEndpointId, createdAt, endedAt } = delivery;
  return [
    [
      "Webhook id",
      html`<a href="${at(`/deliveries?${new URLSearchParams({ webhook: webhookId })}`)}"><code>${webhookId}</code></a>`,
    ],
    ["Endpoint", html`<a href="${at(`/deliveries?endpoint=${endpointId}`)}">${endpointLabel(names, endpointId)}</a>`],
    ...(documentId === ""
      ? [["About", endpointLabel(names, aboutEndpointId)] as const]
      : [
          [
            "Document",
            html`<a href="${at(`/deliveries?document=${documentId}`)}"><code>${documentId}</code></a>`,
          ] as const,
        ]),
    ["Stored", createdAt ? instant(timestampDate(createdAt)) : ""],
    ["Ended", endedAt ? instant(timestampDate(endedAt)) : "not yet"],
    ["Id", html`<code>${deliveryId}</code>`],
  ];
}
