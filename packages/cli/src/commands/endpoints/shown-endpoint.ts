import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Endpoint, PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { isoTime } from "../../rpc/iso-time.ts";

/** An endpoint as `--json` prints it. */
export function toShown(endpoint: Endpoint | undefined) {
  const { disablement } = endpoint ?? {};
  return {
    id: endpoint?.endpointId ?? "",
    url: endpoint?.url ?? "",
    enabled: !disablement,
    disabled: disablement
      ? { at: isoTime(disablement.at), reason: disablement.reason, actor: disablement.actor || null }
      : null,
    events: endpoint?.events ?? [],
    documentTypes: endpoint?.documentTypes ?? [],
    headerNames: endpoint?.headerNames ?? [],
    maxInFlight: endpoint?.maxInFlight ?? 0,
    ratePerSecond: endpoint?.ratePerSecond || null,
    previousSecretEndsAt: isoTime(endpoint?.previousSecretEndsAt),
    createdAt: isoTime(endpoint?.createdAt),
    updatedAt: isoTime(endpoint?.updatedAt),
  };
}

type ShownEndpoint = ReturnType<typeof toShown>;

/** Whether it is enabled, in words. */
export function stateOf({ disabled }: ShownEndpoint): string {
  if (!disabled) return "enabled";
  return disabled.reason === "gone" ? "disabled (410)" : "disabled";
}

/** An endpoint for people, one setting a line. */
export function endpointText(shown: ShownEndpoint): string {
  const { disabled } = shown;
  const by = disabled?.actor ? ` by ${disabled.actor}` : "";
  return [
    `endpoint         ${shown.id}`,
    `url              ${shown.url}`,
    `state            ${stateOf(shown)}${disabled ? ` since ${disabled.at}${by}` : ""}`,
    `events           ${shown.events.join(", ")}`,
    `document types   ${shown.documentTypes.join(", ") || "all"}`,
    `headers          ${shown.headerNames.join(", ") || "none"}`,
    `max in flight    ${shown.maxInFlight}`,
    `rate             ${shown.ratePerSecond === null ? "no limit" : `${shown.ratePerSecond} a second`}`,
    ...(shown.previousSecretEndsAt ? [`older secret     used until ${shown.previousSecretEndsAt}`] : []),
    `created          ${shown.createdAt}`,
    `changed          ${shown.updatedAt}`,
  ].join("\n");
}

/** What came of a ping, as `--json` prints it. */
export function toShownPing(ping: PingResult | undefined) {
  const { accepted = false, status = 0, failure = "", detail = "", answer = "", took } = ping ?? {};
  const tookMs = took ? durationMs(took) : 0;
  return { accepted, status: status || null, failure: failure || null, detail: detail || null, tookMs, answer };
}

/** What came of a ping, in words. */
export function pingText({ status, failure, detail, tookMs, accepted }: ReturnType<typeof toShownPing>): string {
  if (failure) return `the ping failed after ${tookMs} ms: ${failure}${detail ? `, ${detail}` : ""}`;
  return `the ping was ${accepted ? "accepted" : "refused"} with ${status} after ${tookMs} ms`;
}
