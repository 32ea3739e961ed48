import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall } from "../../http/route.ts";
import { type Html, html } from "../../markup/html.ts";
import { notice } from "../parts/notice.ts";

/**
 * Says that a replay waits because its endpoint is disabled; else undefined.
 *
 * @param which `a replay` or `the replay`
 */
export function waitsNote(
  endpoints: readonly Endpoint[],
  endpointId: string,
  which: string,
  at: TenantCall["at"],
): Html | undefined {
  const disablement = endpoints.find((endpoint) => endpoint.endpointId === endpointId)?.disablement;
  if (!disablement) return undefined;
  const how = disablement.reason === "gone" ? "switched off" : "paused";
  return notice(
    "wait",
    html`<b>The endpoint is ${how}: ${which} waits until somebody starts it.</b>
      <a href="${at(`/endpoints/${endpointId}`)}">Look at the endpoint</a>`,
  );
}
