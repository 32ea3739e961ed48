import {
  type CountDeliveriesResponse,
  DeliveryLogService,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { wholeNumber } from "../../options/whole-number.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function countDeliveries(world: World): Command {
  return new Command("count")
    .description("count webhooks by hour and state: those that wait by when they were stored, the others by their end")
    .option("--endpoint <id>", "only to this endpoint")
    .option("--hours <count>", "how many hours, with the current one", wholeNumber(1, 48), 24)
    .action(async ({ endpoint = "", hours }: { endpoint?: string; hours: number }, self: Command) => {
      const session = await openSession(world, self);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const request = { tenantId, endpointId: endpoint, hours };
      const counted = toShownCounts(await delivery.read((client, options) => client.countDeliveries(request, options)));
      session.print(counted, tableOf(counted.hours));
    });
}

function toShownCounts({ hours, countedAt }: CountDeliveriesResponse) {
  return {
    countedAt: isoTime(countedAt),
    hours: hours.map(({ start, counts }) => ({
      start: isoTime(start),
      counts: counts.map(({ state, count, hasMore }) => ({ state, count, hasMore })),
    })),
  };
}

function tableOf(hours: ReturnType<typeof toShownCounts>["hours"]): string {
  const states = hours[0]?.counts.map(({ state }) => state) ?? [];
  const rows = hours.map(({ start, counts }) => [
    start ?? "",
    ...counts.map(({ count, hasMore }) => (hasMore ? `${count}+` : String(count))),
  ]);
  return table(["hour", ...states], rows);
}
