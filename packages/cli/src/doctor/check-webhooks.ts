import { Code, ConnectError } from "@connectrpc/connect";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { contextHeaders } from "@vidimus/kit/rpc/context/call-context";
import type { RpcCredentials } from "@vidimus/kit/rpc/client/client";
import { outcomeOf, wordsOf } from "../shown/shown-delivery.ts";
import { type ShownEndpoint, toShownWithHealth } from "../shown/shown-endpoint.ts";
import type { Settings } from "../settings/settings.ts";
import { answerMsMax } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked, warning } from "./finding.ts";

const check = "webhooks";

/**
 * A webhook that waits for longer counts as stuck. Four attempts are made within this time, at 0 s,
 * 5 s, 35 s and 2.5 min, so a few failed attempts are no warning.
 */
const waitMsMax = 5 * 60_000;

/**
 * A receiver that is disabled for longer may have been forgotten. Its held deliveries end after
 * 30 days.
 */
const disabledMsMax = 7 * 24 * 60 * 60_000;

/**
 * Checks the tenant's receivers. Each one that needs attention gets a warning, for example one that
 * is stuck, or that was disabled over a week ago.
 */
export async function checkWebhooks(
  settings: Pick<Settings, "find" | "get">,
  credentialsFor: (name: string) => Promise<RpcCredentials | undefined>,
  now: number = Date.now(),
): Promise<Finding[]> {
  const [target, tenantId] = [settings.find("delivery"), settings.find("tenant")];
  if (!target) return [unchecked(check, "Pass --delivery or VIDIMUS_DELIVERY to have the receivers checked.")];
  if (!tenantId) {
    return [unchecked(check, "Pass --tenant or VIDIMUS_TENANT to have its receivers checked.", "tenant unknown")];
  }
  const credentials = await credentialsFor("delivery");
  const { openRpcClient } = await import("@vidimus/kit/rpc/client/client");
  using client = openRpcClient(EndpointService, { target, credentials });
  const headers = contextHeaders({ actor: "cli:doctor", role: settings.get("role") });
  try {
    const { endpoints } = await client.listEndpoints({ tenantId }, { headers, timeoutMs: answerMsMax });
    const findings = endpoints.flatMap((endpoint) => checkEndpoint(toShownWithHealth(endpoint), now));
    const count = `${endpoints.length} ${endpoints.length === 1 ? "receiver" : "receivers"} of ${tenantId}`;
    return findings.length > 0 ? findings : [ok(check, `${count}, none is stuck`)];
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    const remedy = "See the finding about delivery rpc, and whether --role may read this tenant.";
    return code === Code.Unavailable
      ? [unchecked(check, remedy, "delivery cannot be reached")]
      : [broken(check, `receivers of ${tenantId} cannot be read: ${rawMessage}`, remedy)];
  }
}

function checkEndpoint(endpoint: ShownEndpoint, now: number): Finding[] {
  const { id, url, disabled, health } = endpoint;
  const name = `endpoint ${id} (${URL.parse(url)?.host ?? url})`;
  if (disabled) return checkDisabled(name, endpoint, now);
  if (!health) {
    const remedy = "Its backlog is too long to be read in two seconds: see vidimus_delivery_backlog_seconds.";
    return [warning(check, `${name}: health unknown`, remedy)];
  }
  const { gate, openSince, oldestPendingAt, pendingDocuments, lastFailure } = health;
  const isWaiting = oldestPendingAt !== null && now - Date.parse(oldestPendingAt) > waitMsMax;
  if (gate === "closed" && !isWaiting) return [];
  if (gate === "unopened") {
    const remedy = `\`vidimus endpoints rotate ${id}\`, and give its headers again; or delete it and create it again.`;
    return [warning(check, `${name} gets nothing: what it keeps secret cannot be opened`, remedy)];
  }
  const since = openSince ? ` since ${openSince}` : "";
  const waiting = oldestPendingAt ? `, ${pendingDocuments} documents wait since ${oldestPendingAt}` : "";
  const error = lastFailure ? `; last error: ${outcomeOf(lastFailure)} ${wordsOf(lastFailure)}`.trimEnd() : "";
  const state = gate === "paused" ? `is paused by its Retry-After until ${health.nextProbeAt}` : `fails${since}`;
  const remedy =
    `\`vidimus deliveries list --endpoint ${id} --state pending\` says what waits. Mend the receiver, then ` +
    `\`vidimus endpoints test ${id}\`: when it accepts the ping, what waits is tried at once.`;
  return [warning(check, `${name} ${gate === "closed" ? "is behind" : state}${waiting}${error}`, remedy)];
}

function checkDisabled(name: string, { id, disabled }: ShownEndpoint, now: number): Finding[] {
  const at = disabled?.at ?? "";
  if (disabled?.reason === "gone") {
    const remedy = `If it is to go on, \`vidimus endpoints enable ${id}\` sends what was held; else \`vidimus endpoints delete ${id}\`.`;
    return [warning(check, `${name} is disabled since ${at}: it answered 410 twice`, remedy)];
  }
  if (now - Date.parse(at) <= disabledMsMax) return [];
  const remedy = `What is held ends after 30 days: \`vidimus endpoints enable ${id}\`, or \`vidimus endpoints delete ${id}\`.`;
  return [warning(check, `${name} is disabled since ${at} by ${disabled?.actor ?? "nobody known"}`, remedy)];
}
