import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  CountDeliveriesResponse,
  DeliveryHour,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall } from "../../http/route.ts";
import { dataTable } from "../parts/data-table.ts";
import { type Html, html } from "../../markup/html.ts";
import { figure, minuteOf } from "../../markup/in-words.ts";
import { notice } from "../parts/notice.ts";
import { instant } from "../parts/times.ts";
import { deliveryStates } from "./delivery-state.ts";

/** Sizes in units of the drawing, which is stretched to the width of the page. */
const [barWidth, gap, barHeight] = [18, 8, 70];
/** Least height of a bar, so that a bar of one delivery is visible beside one of ten thousand. */
const heightMin = 2;

export function deliveriesByHour({ hours }: CountDeliveriesResponse): Html {
  const bars = hours.map((hour) => ({
    all: sumOf(hour),
    failed: countOf(hour, "exhausted")?.count ?? 0,
    waiting: waitingIn(hour),
  }));
  const most = Math.max(1, ...bars.map(({ all }) => all));
  const width = hours.length * (barWidth + gap);
  return html`<h2>Deliveries, last ${hours.length} hours</h2>
    <div class="sheet chart">
      <svg
        class="bars"
        viewBox="0 0 ${width} ${barHeight}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${describe(hours)}"
      >
        ${bars.map((bar, at) => barOf(bar, at, most))}
      </svg>
      <p class="q ends"><span>${hourOf(hours[0])}</span><span>${hourOf(hours.at(-1))}, this hour (UTC)</span></p>
      <details>
        <summary>As a table</summary>
        ${dataTable({
          caption: `Deliveries of ${hours.length} hours newest first; what waits by the hour in which it was stored, the rest by that of its end`,
          columns: [
            { label: "Hour", cell: ({ start }) => start && instant(timestampDate(start)) },
            ...deliveryStates.map(({ value, label }) => ({
              label,
              isNumber: true as const,
              cell: (hour: DeliveryHour) => shownCount(hour, value),
            })),
          ],
          rows: hours.toReversed(),
        })}
      </details>
    </div>`;
}

export function isQuiet({ hours }: CountDeliveriesResponse): boolean {
  return hours.every((hour) => sumOf(hour) === 0);
}

/** Undefined when no delivery was given up in these hours. */
export function givenUpNotice({ hours }: CountDeliveriesResponse, { at }: TenantCall): Html | undefined {
  const { count, hasMore } = totalOf(hours, "exhausted");
  if (count === 0) return undefined;
  const most = hasMore ? "More than " : "";
  return notice(
    "bad",
    html`<b
        >${most}${figure(count)} ${count === 1 ? "delivery was" : "deliveries were"} given up in the last
        ${hours.length} hours.</b
      >
      ${count === 1 ? "It is not tried again by itself." : "They are not tried again by themselves."}
      <a href="${at("/deliveries?state=exhausted")}">Look at ${count === 1 ? "it" : "them"}</a>`,
  );
}

interface Bar {
  readonly all: number;
  readonly failed: number;
  readonly waiting: number;
}

/** From the top down: what was given up, what waits, the rest. Each is drawn over the next. */
function barOf({ all, failed, waiting }: Bar, at: number, most: number): Html {
  const [high, red, amber] = [heightOf(all, most), heightOf(failed, most), heightOf(failed + waiting, most)];
  const x = at * (barWidth + gap);
  return html`<rect class="d" x="${x}" y="${barHeight - high}" width="${barWidth}" height="${high}" />
    ${waiting > 0 && html`<rect class="w" x="${x}" y="${barHeight - high}" width="${barWidth}" height="${amber}" />`}
    ${red > 0 && html`<rect class="f" x="${x}" y="${barHeight - high}" width="${barWidth}" height="${red}" />`}`;
}

function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(heightMin, Math.round((count / most) * barHeight));
}

function describe(hours: readonly DeliveryHour[]): string {
  const told = deliveryStates.flatMap(({ value, label }) => {
    const { count } = totalOf(hours, value);
    return count === 0 ? [] : [`${figure(count)} ${label}`];
  });
  return `Deliveries an hour: ${told.length === 0 ? "none" : told.join(", ")}`;
}

function shownCount(hour: DeliveryHour, named: string): string {
  const { count = 0, hasMore = false } = countOf(hour, named) ?? {};
  return `${figure(count)}${hasMore ? "+" : ""}`;
}

function waitingIn(hour: DeliveryHour): number {
  return ["pending", "held"].reduce((sum, named) => sum + (countOf(hour, named)?.count ?? 0), 0);
}

function countOf({ counts }: DeliveryHour, named: string) {
  return counts.find(({ state }) => state === named);
}

/** `hasMore` is true when the count of an hour stopped early, so that there are more. */
function totalOf(hours: readonly DeliveryHour[], named: string) {
  const counts = hours.flatMap((hour) => countOf(hour, named) ?? []);
  return { count: counts.reduce((sum, each) => sum + each.count, 0), hasMore: counts.some(({ hasMore }) => hasMore) };
}

function sumOf({ counts }: DeliveryHour): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function hourOf(hour: DeliveryHour | undefined): string {
  return hour?.start ? minuteOf(timestampDate(hour.start)) : "";
}
