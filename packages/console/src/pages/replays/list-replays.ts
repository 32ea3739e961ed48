import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Replay } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { endpointChoices } from "../deliveries/endpoint-label.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption, type ListPage, pager, positionOf } from "../parts/pager.ts";
import { type Part, partOf, showPart } from "../parts/service-down.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { instant, timeAgo } from "../parts/times.ts";
import { progressOf, replayState } from "./replay-state.ts";

export interface ListReplaysDeps {
  readonly deliveries: Pick<DeliveryCalls, "listReplays">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

interface Found extends ListPage {
  readonly rows: readonly Replay[];
}

interface Listed {
  readonly names: Part<EndpointNames>;
  /** Undefined while no endpoint is chosen, unless delivery is down. */
  readonly found: Part<Found> | undefined;
}

const pageRows = 50;

export function listReplays({ deliveries, endpoints }: ListReplaysDeps): TenantRoute {
  return tenantPage({
    path: "/replays",
    right: "endpoints",
    load: async (call): Promise<Listed> => {
      const finding = find(deliveries, call);
      const [names, found] = await Promise.all([
        partOf(call, "delivery", endpointNames(endpoints, call)),
        finding && partOf(call, "delivery", finding),
      ]);
      return { names, found: found ?? ("down" in names ? names : undefined) };
    },
    view: (listed, call) => ({ title: "Replays", main: listPage(listed, call) }),
  });
}

function find(deliveries: ListReplaysDeps["deliveries"], call: TenantCall): Promise<Found> | undefined {
  const endpointId = call.query.get("endpoint") ?? "";
  return endpointId === "" ? undefined : list(deliveries, endpointId, call);
}

async function list(deliveries: ListReplaysDeps["deliveries"], endpointId: string, call: TenantCall): Promise<Found> {
  const position = positionOf(call.query);
  const request = { tenantId: call.tenant.tenantId, endpointId, limit: pageRows, pageToken: position.pageToken };
  const { replays, nextPageToken } = await deliveries.listReplays(request, call.rpc);
  return { ...position, rows: replays, count: replays.length, nextPageToken };
}

const lead = "Each replay sends one endpoint what it missed or lost. Those that ended are kept for 30 days.";

function listPage({ names, found }: Listed, call: TenantCall): Html {
  const { at, query } = call;
  const endpoint = query.get("endpoint") ?? "";
  const only = endpoint === "" ? "" : `?${new URLSearchParams({ endpoint })}`;
  return html`${pageHead({
    title: "Replays",
    lead,
    aside: linkButton("New replay", at(`/replays/new${only}`), "primary"),
    above: { label: "Deliveries", href: at("/deliveries") },
  })}
  ${filterForm(at("/replays"), [
    selectField({
      name: "endpoint",
      label: "Endpoint",
      value: endpoint,
      choices: [
        { value: "", label: "choose one" },
        ...endpointChoices("value" in names ? names.value : new Map<string, string>(), endpoint),
      ],
    }),
  ])}
  ${found ? showPart(found, (page) => rowsOf(page, call)) : emptyState("Choose an endpoint to see its replays.")}`;
}

function rowsOf(found: Found, call: TenantCall): Html {
  if (found.count === 0) return emptyState("This endpoint had no replay in the last 30 days.");
  return html`${dataTable({
    caption: caption(found, "replay", "replays", "newest first"),
    columns: columnsFor(call),
    rows: found.rows,
  })}
  ${pager(call.url, found)}`;
}

function columnsFor({ at, now }: TenantCall): Column<Replay>[] {
  return [
    {
      label: "Started",
      cell: ({ replayId, createdAt }) =>
        html`<a href="${at(`/replays/${replayId}`)}">${createdAt ? instant(timestampDate(createdAt)) : replayId}</a>`,
    },
    { label: "State", cell: (replay) => replayState(replay) },
    { label: "So far", cell: (replay) => progressOf(replay) },
    { label: "Ended", cell: ({ endedAt }) => (endedAt ? timeAgo(timestampDate(endedAt), now) : "not yet") },
  ];
}
