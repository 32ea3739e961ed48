import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Delivery, DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { openService, type ServiceCaller } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { outcomeOf, toShown } from "../../shown/shown-delivery.ts";

const pollMs = 1_000;
/** Only deliveries that were stored within this time are read. */
const watchedMs = 10 * 60_000;
const pageMax = 200;

export function tailDeliveries(world: World): Command {
  return new Command("tail")
    .description("print each change of the newest 200 deliveries of the last ten minutes, until interrupted")
    .option("--endpoint <id>", "only to this endpoint")
    .action(async ({ endpoint = "" }: { endpoint?: string }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const known = new Map<string, string>();
      const stop = new AbortController();
      void world.interrupted?.().then(() => stop.abort());
      while (!stop.signal.aborted) {
        for (const row of await readRecent(delivery, tenantId, endpoint)) {
          const shown = toShown(row);
          const state = `${shown.state} ${shown.attemptCount}`;
          if (known.get(shown.id) === state) continue;
          known.set(shown.id, state);
          const last = outcomeOf(shown.lastAttempt);
          const at = shown.lastAttempt?.at ?? shown.createdAt;
          session.print(shown, `${at}  ${shown.state}  ${last}  ${shown.webhookId}  endpoint ${shown.endpointId}`);
        }
        await world.sleep(pollMs);
      }
    });
}

/** Returns the deliveries oldest first, the order in which they are printed. */
async function readRecent(
  delivery: ServiceCaller<typeof DeliveryLogService>,
  tenantId: string,
  endpointId: string,
): Promise<Delivery[]> {
  const since = timestampFromDate(new Date(Date.now() - watchedMs));
  const request = { tenantId, endpointId, since, limit: pageMax };
  const { deliveries } = await delivery.read((client, options) => client.listDeliveries(request, options));
  return deliveries.toReversed();
}
