import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Replay } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { endpointLabel } from "../deliveries/endpoint-label.ts";
import { listedEndpoints, namesOf } from "../endpoints/read-endpoint.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { exactly, instant } from "../parts/times.ts";
import { choiceOf, progressOf, replayState } from "./replay-state.ts";
import { waitsNote } from "./waits-note.ts";

interface ShowReplayDeps {
  readonly deliveries: Pick<DeliveryCalls, "getReplay">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

/**
 * `GET /t/{tenant}/replays/{replay}?of=COUNT`: the progress of a replay, compared with the number
 * of snapshots that were counted before its start. While the replay runs, the script reads the page
 * with `live=yes` every two seconds, and takes the replay's state and progress from it. That page
 * omits the endpoints, for whose health delivery makes searches.
 */
export function showReplay({ deliveries, endpoints }: ShowReplayDeps): TenantRoute {
  return tenantPage({
    path: "/replays/:replay",
    right: "endpoints",
    load: async (call) => {
      const isCopy = call.query.has("live");
      const [replay, found] = await Promise.all([
        readReplay(deliveries, call),
        isCopy ? [] : listedEndpoints(endpoints, call),
      ]);
      return { replay, found };
    },
    view: ({ replay, found }, call) => ({ title: "Replay", main: replayPage(replay, found, call) }),
  });
}

/** The replay that the URL names. NOT_FOUND when the tenant has no such replay. */
export async function readReplay(
  deliveries: Pick<DeliveryCalls, "getReplay">,
  { tenant: { tenantId }, params, rpc }: TenantCall,
): Promise<Replay> {
  const { replay } = await deliveries.getReplay({ tenantId, replayId: params["replay"] ?? "" }, rpc);
  if (!replay) throw new Error("GetReplay answered no replay");
  return replay;
}

const done = {
  started: "The replay is started. It goes on when you leave this page.",
  cancelled: "The replay is cancelled. What is on its way still arrives.",
};

function replayPage(replay: Replay, found: readonly Endpoint[], call: TenantCall): Html {
  const { at, query, url } = call;
  const { replayId, endpointId } = replay;
  const list = at(`/replays?endpoint=${endpointId}`);
  const isRunning = replay.state === "running";
  return html`${doneNotice(query, done)}
    <div id="live" ${isRunning && html`data-live`}>
      ${pageHead({
        title: html`Replay to ${endpointLabel(namesOf(found), endpointId)}`,
        aside: html`<span role="status">${replayState(replay)}</span>`,
        above: { label: "Replays", href: list },
      })}
      ${isRunning && waitsNote(found, endpointId, "the replay", at)}
      <div class="sheet padded">${progress(replay, query)}</div>
    </div>
    ${
      isRunning &&
      html`<div class="actions below">
        <a class="button primary" href="${again(url)}">Load again</a>
        <a class="button danger" href="${at(`/replays/${replayId}/cancel`)}">Cancel the replay</a>
      </div>`
    }
    <h2>What it is</h2>
    <dl>
      ${factsOf(replay).map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <p><a href="${at(`/deliveries?endpoint=${endpointId}`)}">Deliveries to this endpoint</a></p>`;
}

function progress(replay: Replay, query: URLSearchParams): Html {
  const words = html`<p>${progressOf(replay)}${reachedIn(replay)}.</p>`;
  const of = Number(/^\d{1,15}$/.exec(query.get("of") ?? "")?.[0] ?? 0);
  if (replay.state !== "running" || of === 0) return words;
  const value = Math.min(Number(replay.seen), of);
  return html`<progress aria-label="Progress of the replay" value="${value}" max="${of}"></progress>
    <p>${value} of ${of} snapshots that were counted before it began.</p>
    ${words}`;
}

function reachedIn({ reached, state }: Replay): Html | undefined {
  if (!reached || state === "done") return undefined;
  return html`; it has come to what was published at ${exactly(timestampDate(reached))}`;
}

function again({ pathname, searchParams }: URL): string {
  const of = searchParams.get("of");
  return of === null ? pathname : `${pathname}?${new URLSearchParams({ of })}`;
}

function factsOf(replay: Replay): (readonly [string, Content])[] {
  const { replayId, createdAt, endedAt } = replay;
  return [
    ["Sends", choiceOf(replay)],
    ["Started", createdAt ? instant(timestampDate(createdAt)) : ""],
    ["Ended", endedAt ? instant(timestampDate(endedAt)) : "not yet"],
    ["Id", html`<code>${replayId}</code>`],
  ];
}
