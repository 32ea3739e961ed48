import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { type Html, html } from "../../markup/html.ts";
import { state, type Tone } from "../parts/state.ts";
import { timeAgo } from "../parts/times.ts";

/** An endpoint without failures counts as behind when its oldest delivery has waited for longer. */
const behindMs = 10 * 60_000;

export type Standing = "ok" | "behind" | "retrying" | "failing" | "waits" | "paused" | "gone" | "unopened" | "unknown";

const looks: Readonly<Record<Standing, readonly [Tone, string]>> = {
  ok: ["ok", "healthy"],
  behind: ["wait", "behind"],
  retrying: ["wait", "tries again"],
  failing: ["bad", "failing"],
  waits: ["wait", "asked us to wait"],
  paused: ["off", "paused"],
  gone: ["bad", "switched off"],
  unopened: ["bad", "secret lost"],
  unknown: ["off", "not known"],
};

/** The overall state of an endpoint, from delivery's report. */
export function standingOf({ disablement, health }: Endpoint, now: Date): Standing {
  if (health?.gate === "unopened") return "unopened";
  if (disablement) return disablement.reason === "gone" ? "gone" : "paused";
  if (!health) return "unknown";
  if (health.gate === "open" || health.gate === "probing") return "failing";
  if (health.gate === "paused") return "waits";
  const { oldestPendingAt: oldest, lastFailure } = health;
  if (oldest && lastFailure) return "retrying";
  return oldest && now.getTime() - timestampDate(oldest).getTime() > behindMs ? "behind" : "ok";
}

/** The overall state as a dot and a word. */
export function endpointState(endpoint: Endpoint, now: Date): Html {
  return state(...looks[standingOf(endpoint, now)]);
}

/** How much waits for an endpoint or is held for it, and since when. */
export function lagOf({ health, disablement }: Endpoint, now: Date): Html | string {
  if (!health) return "not known";
  const { pendingDocuments, oldestPendingAt, heldDeliveries, hasMoreHeld, oldestHeldAt } = health;
  if (disablement) {
    if (heldDeliveries === 0 || !oldestHeldAt) return "nothing is held";
    const count = counted(heldDeliveries, hasMoreHeld);
    return html`${count} held, the oldest ${timeAgo(timestampDate(oldestHeldAt), now)}`;
  }
  if (!oldestPendingAt) return "nothing waits";
  const documents = pendingDocuments === 1n ? "1 document" : `${figure(pendingDocuments)} documents`;
  return html`${documents} ${pendingDocuments === 1n ? "waits" : "wait"}, the oldest
  ${timeAgo(timestampDate(oldestPendingAt), now)}`;
}

const figures = new Intl.NumberFormat("en");

/** A number with separators: `10,000`. */
export function figure(count: number | bigint): string {
  return figures.format(count);
}

/** A number at which counting may have stopped: `10,000+`. */
export function counted(count: number, hasMore: boolean): string {
  return `${figure(count)}${hasMore ? "+" : ""}`;
}
