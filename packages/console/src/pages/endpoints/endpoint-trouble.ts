import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall } from "../../http/route.ts";
import { outcomeOf } from "../parts/outcome.ts";
import { type ActorNames, actorName } from "../parts/actor.ts";
import { type Html, html } from "../../markup/html.ts";
import { notice } from "../parts/notice.ts";
import { dueIn, timeAgo } from "../parts/times.ts";
import { counted, lagOf, standingOf } from "./endpoint-state.ts";

export function troubleNote(endpoint: Endpoint, names: ActorNames, now: Date): Html | undefined {
  const told = troubleOf(endpoint, "It", names, now);
  return told && notice(toneOf(endpoint, now), told);
}

/**
 * A note about an endpoint's trouble with the endpoint's name and a link, for pages about several
 * endpoints; undefined without trouble of this tone, and when the endpoint's state is not known.
 */
export function namedTrouble(
  tone: "bad" | "wait",
  endpoint: Endpoint,
  names: ActorNames,
  { at, now }: TenantCall,
): Html | undefined {
  const { endpointId, name } = endpoint;
  if (standingOf(endpoint, now) === "unknown" || toneOf(endpoint, now) !== tone) return undefined;
  const told = troubleOf(endpoint, html`“<bdi>${name}</bdi>”`, names, now);
  return told && notice(tone, html`${told} <a href="${at(`/endpoints/${endpointId}`)}">Look at the endpoint</a>`);
}

function toneOf(endpoint: Endpoint, now: Date): "bad" | "wait" {
  return ["failing", "gone", "unopened"].includes(standingOf(endpoint, now)) ? "bad" : "wait";
}

/** @param who the endpoint at the beginning of a sentence: `It` */
function troubleOf(endpoint: Endpoint, who: Html | string, names: ActorNames, now: Date): Html | undefined {
  const { disablement, health } = endpoint;
  const ago = (at: Timestamp | undefined) => at && timeAgo(timestampDate(at), now);
  const next = health?.nextProbeAt && html` The next attempt: ${dueIn(timestampDate(health.nextProbeAt), now)}.`;
  const standing = standingOf(endpoint, now);
  switch (standing) {
    case "ok":
    case "unproven":
      return undefined;
    case "unknown":
      return html`<b>How it does could not be found out.</b> Load the page again in a moment.`;
    case "unopened":
      return html`<b>${who} gets nothing:</b> its secret or its headers, as they are stored, cannot be opened.
        Everything is kept. Rotate its secret and give its headers again; nothing happens by itself.`;
    case "gone":
      return html`<b>${who} was switched off ${ago(disablement?.at)}</b>, because the receiver answered 410 Gone twice.
        ${heldOf(endpoint, now)} It stays off until somebody starts it.`;
    case "paused":
      return html`<b>${who} was paused ${ago(disablement?.at)}</b> by ${actorName(names, disablement?.actor ?? "")}.
        ${heldOf(endpoint, now)} It stays so until somebody starts it.`;
    case "failing":
      return html`<b>${who} fails again and again.</b
        >${health?.openSince && html` That began ${ago(health.openSince)}.`} ${lastRefusal(endpoint)} One attempt at a
        time goes out, and once it is accepted the rest follows in order. ${next}`;
    case "waits":
      return html`<b>${who} asked for a pause.</b> ${waitingOf(endpoint, now)} Sending goes on by itself.${next}`;
    case "retrying":
      return html`<b>${who} did not accept the last attempt.</b> ${waitingOf(endpoint, now)} ${lastRefusal(endpoint)} It
        is tried again by itself.`;
    case "behind":
      return html`<b>${who} is behind.</b> ${waitingOf(endpoint, now)} ${lastRefusal(endpoint)} Sending goes on by
        itself.`;
  }
}

function heldOf({ health }: Endpoint, now: Date): Html | undefined {
  if (!health) return undefined;
  const { heldDeliveries: held, hasMoreHeld, oldestHeldAt } = health;
  if (held === 0 || !oldestHeldAt) return html`Nothing is held for it.`;
  return html`${counted(held, hasMoreHeld)} ${held === 1 ? "delivery is" : "deliveries are"} held for it, the oldest
  ${timeAgo(timestampDate(oldestHeldAt), now)}.`;
}

function waitingOf(endpoint: Endpoint, now: Date): Html {
  return html`Behind it: ${lagOf(endpoint, now)}.`;
}

function lastRefusal({ health }: Endpoint): Html | undefined {
  return health?.lastFailure && html`The last answer: ${outcomeOf(health.lastFailure)}.`;
}
