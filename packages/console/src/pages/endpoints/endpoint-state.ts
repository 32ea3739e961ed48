import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { type Html, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { state, type Tone } from "../parts/state.ts";
import { timeAgo } from "../parts/times.ts";

/** An endpoint without failures counts as behind when its oldest delivery has waited for longer. */
const behindMs = 10 * 60_000;

export type Standing =
  | "ok"
  | "unproven"
  | "behind"
  | "retrying"
  | "failing"
  | "waits"
  | "paused"
  | "gone"
  | "unopened"
  | "unknown";

const looks: Readonly<Record<Standing, readonly [Tone, string]>> = {
  ok: ["ok", "healthy"],
  unproven: ["off", "nothing accepted yet"],
  behind: ["wait", "behind"],
  retrying: ["wait", "tries again"],
  failing: ["bad", "failing"],
  waits: ["wait", "asked us to wait"],
  paused: ["off", "paused"],
  gone: ["bad", "switched off"],
  unopened: ["bad", "secret lost"],
  unknown: ["off", "not known"],
};

export function standingOf(endpoint: Endpoint, now: Date): Standing {
  const { disablement, health } = endpoint;
  if (health?.gate === "unopened") return "unopened";
  if (disablement) return disablement.reason === "gone" ? "gone" : "paused";
  if (!health) return "unknown";
  if (health.gate === "open" || health.gate === "probing") return "failing";
  if (health.gate === "paused") return "waits";
  const { oldestPendingAt: oldest, lastFailure, lastAcceptedAt } = health;
  if (oldest && lastFailure) return "retrying";
  if (oldest && now.getTime() - timestampDate(oldest).getTime() > behindMs) return "behind";
  return !lastAcceptedAt && isYoung(endpoint, now) ? "unproven" : "ok";
}

export function endpointState(endpoint: Endpoint, now: Date): Html {
  return state(...looks[standingOf(endpoint, now)]);
}

/** Delivery keeps ended deliveries for this long, so earlier acceptances are not known. */
const keptMs = 30 * 86_400_000;

function isYoung({ createdAt }: Endpoint, now: Date): boolean {
  return createdAt !== undefined && now.getTime() - timestampDate(createdAt).getTime() < keptMs;
}

export function lastAccepted(endpoint: Endpoint, now: Date): Html | string {
  const { health } = endpoint;
  if (!health) return "not known";
  if (health.lastAcceptedAt) return timeAgo(timestampDate(health.lastAcceptedAt), now);
  return isYoung(endpoint, now) ? "nothing yet; pings do not count" : "not in the last 30 days";
}

/** Whether deliveries to an endpoint are held until somebody enables it or replaces its secret. */
export function isHeld({ health, disablement }: Endpoint): boolean {
  return disablement !== undefined || health?.gate === "unopened";
}

export function lagOf(endpoint: Endpoint, now: Date): Html | string {
  const { health } = endpoint;
  if (!health) return "not known";
  const { pendingDocuments, oldestPendingAt, heldDeliveries, hasMoreHeld, oldestHeldAt } = health;
  if (isHeld(endpoint)) {
    if (heldDeliveries === 0 || !oldestHeldAt) return "nothing is held";
    const count = counted(heldDeliveries, hasMoreHeld);
    return html`${count} held, the oldest ${timeAgo(timestampDate(oldestHeldAt), now)}`;
  }
  if (!oldestPendingAt) return "nothing waits";
  // `pendingDocuments` counts documents, and endpoints that events are about. Each has at least one
  // delivery that waits.
  const waiting = pendingDocuments === 1n ? "1 delivery waits" : `${figure(pendingDocuments)} deliveries wait`;
  return html`at least ${waiting}, the oldest ${timeAgo(timestampDate(oldestPendingAt), now)}`;
}

/** A number at which counting may have stopped: `10,000+`. */
export function counted(count: number, hasMore: boolean): string {
  return `${figure(count)}${hasMore ? "+" : ""}`;
}
