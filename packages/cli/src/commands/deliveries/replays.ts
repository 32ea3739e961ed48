import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { wholeNumber } from "../../options/whole-number.ts";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { toShownReplay } from "../../shown/shown-delivery.ts";

export function listReplays(world: World): Command {
  return new Command("replays")
    .description("list a receiver's replays, newest first")
    .argument("<endpoint>", "id of the endpoint")
    .option("--limit <count>", "most rows", wholeNumber(1, 100_000), 50)
    .action(async (endpointId: string, { limit }: { limit: number }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const query = { tenantId, endpointId };
      const { rows, more } = await walkPages(limit, async (page) => {
        const answer = await delivery.read((client, options) => client.listReplays({ ...query, ...page }, options));
        return { rows: answer.replays.map(toShownReplay), nextPageToken: answer.nextPageToken };
      });
      const lines = table(
        ["id", "state", "seen", "delivered", "failed", "skipped", "since", "until", "started"],
        rows.map((row) => [
          row.id,
          row.state,
          String(row.seen),
          String(row.delivered),
          String(row.failed),
          String(row.skipped),
          row.since ?? "-",
          row.until ?? "-",
          row.createdAt ?? "",
        ]),
      );
      session.print(rows, more ? `${lines}\n(there are more: --limit)` : lines);
    });
}
