import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { outcomeOf, tookOf } from "../parts/outcome.ts";
import { type Content, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { dueIn, instant, timeAgo } from "../parts/times.ts";
import { isHeld, lagOf, lastAccepted } from "./endpoint-state.ts";
import { saidOf } from "./ping-result.ts";

type Fact = readonly [string, Content];

export function healthFacts(endpoint: Endpoint, now: Date): Fact[] {
  const { health } = endpoint;
  const isNothingHeld = isHeld(endpoint) && health?.heldDeliveries === 0;
  const lag: Fact = [isHeld(endpoint) ? "Held" : "Waiting", isNothingHeld ? "nothing" : lagOf(endpoint, now)];
  if (!health) return [lag];
  const { lastFailure, nextProbeAt } = health;
  return [
    lag,
    ["Last accepted", lastAccepted(endpoint, now)],
    ...(lastFailure ? [["Last refusal", refusal(lastFailure, now)] as const] : []),
    ...(nextProbeAt ? [["Next attempt", dueIn(timestampDate(nextProbeAt), now)] as const] : []),
  ];
}

type Failure = NonNullable<NonNullable<Endpoint["health"]>["lastFailure"]>;

function refusal(failure: Failure, now: Date): Content {
  const when = failure.at && html`, ${timeAgo(timestampDate(failure.at), now)}`;
  return html`${outcomeOf(failure)} after ${tookOf(failure)}${when} ${saidOf(failure)}`;
}

export function settingFacts(endpoint: Endpoint): Fact[] {
  const { endpointId, events, documentTypes, headerNames, maxInFlight, ratePerSecond, createdAt, updatedAt } = endpoint;
  const { previousSecretEndsAt: overlapEnd } = endpoint;
  return [
    ["Events", codes(events)],
    ["Document types", documentTypes.length === 0 ? "all" : codes(documentTypes)],
    ["Headers", headerNames.length === 0 ? "none of its own" : codes(headerNames)],
    ["Limits", html`${figure(maxInFlight)} at once, ${rateOf(ratePerSecond)}`],
    [
      "Secret",
      overlapEnd ? html`two until ${instant(timestampDate(overlapEnd))}: webhooks are signed with both` : "one in use",
    ],
    ...(createdAt ? [["Registered", instant(timestampDate(createdAt))] as const] : []),
    ...(updatedAt ? [["Changed last", instant(timestampDate(updatedAt))] as const] : []),
    ["Id", html`<code>${endpointId}</code>`],
  ];
}

function codes(names: readonly string[]): Content {
  return names.map((name, at) => html`${at > 0 && ", "}<code>${name}</code>`);
}

function rateOf(perSecond: number): string {
  return perSecond === 0 ? "any number a second" : `${perSecond} a second`;
}
