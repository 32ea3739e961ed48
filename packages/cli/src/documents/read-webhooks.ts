import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { CliError } from "../cli-error.ts";
import { outcomeOf, toShown } from "../shown/shown-delivery.ts";
import { openService } from "../rpc/open-service.ts";
import { walkPages } from "../rpc/walk-pages.ts";
import type { Session } from "../session.ts";

/** The state of a document's webhooks to one endpoint, as `--json` prints it. */
interface ShownWebhooks {
  readonly endpointId: string;
  readonly url: string;
  /** From state to number of deliveries. */
  readonly states: Readonly<Record<string, number>>;
  /** The last attempt of the newest delivery that has one. */
  readonly lastAttempt: ReturnType<typeof toShown>["lastAttempt"];
  readonly nextAttemptAt: string | null;
}

/** Most deliveries that are read, newest first. */
const deliveriesMax = 1_000;

/**
 * Reads the state of a document's webhooks, by endpoint. When the address of delivery is unknown or
 * a call to delivery fails, returns a text that says so, because the document is shown even then.
 */
export async function readWebhooks(
  session: Session,
  tenantId: string,
  documentId: string,
): Promise<ShownWebhooks[] | string> {
  if (!session.settings.find("delivery")) return "pass --delivery or set VIDIMUS_DELIVERY to see them";
  try {
    using endpoints = await openService(session, "delivery", EndpointService);
    using log = await openService(session, "delivery", DeliveryLogService);
    const [{ endpoints: known }, { rows }] = await Promise.all([
      endpoints.read((client, options) => client.listEndpoints({ tenantId }, options)),
      walkPages(deliveriesMax, async (page) => {
        const request = { tenantId, documentId, ...page };
        const answer = await log.read((client, options) => client.listDeliveries(request, options));
        return { rows: answer.deliveries.map(toShown), nextPageToken: answer.nextPageToken };
      }),
    ]);
    const urls = new Map(known.map(({ endpointId, url }) => [endpointId, url]));
    const byEndpoint = Map.groupBy(rows, ({ endpointId }) => endpointId);
    return Array.from(byEndpoint, ([endpointId, deliveries]) => {
      const states = Map.groupBy(deliveries, ({ state }) => state);
      return {
        endpointId,
        url: urls.get(endpointId) ?? "",
        states: Object.fromEntries(Array.from(states, ([state, { length }]) => [state, length])),
        lastAttempt: deliveries.find(({ lastAttempt }) => lastAttempt)?.lastAttempt ?? null,
        nextAttemptAt: deliveries.find(({ nextAttemptAt }) => nextAttemptAt)?.nextAttemptAt ?? null,
      };
    });
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}

export function webhookLines(webhooks: ShownWebhooks[] | string): string[] {
  if (typeof webhooks === "string") return [`webhooks   unknown: ${webhooks}`];
  if (webhooks.length === 0) return ["webhooks   none"];
  return webhooks.map(({ endpointId, url, states, lastAttempt, nextAttemptAt }) => {
    const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`);
    const last = lastAttempt ? `; last attempt ${lastAttempt.at} ${outcomeOf(lastAttempt)}` : "";
    const next = nextAttemptAt ? `; next attempt ${nextAttemptAt}` : "";
    return `webhooks   ${counts.join(", ")}${last}${next}; endpoint ${endpointId}, ${url}`;
  });
}
