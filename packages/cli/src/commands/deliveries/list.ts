import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { timestamp, type TimestampInit } from "../../options/timestamp.ts";
import { readNameList } from "../../options/name-list.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";
import { outcomeOf, toShown } from "../../shown/shown-delivery.ts";

interface ListOptions {
  endpoint?: string;
  document?: string;
  webhook?: string;
  state?: string[];
  since?: TimestampInit;
  until?: TimestampInit;
  limit: number;
}

export function listDeliveries(world: World): Command {
  return new Command("list")
    .description("list what became of webhooks, newest first")
    .option("--endpoint <id>", "only to this endpoint")
    .option("--document <id>", "only about this document")
    .option("--webhook <id>", "only with this webhook-id")
    .option("--state <names>", "by commas: pending, held, delivered, superseded, exhausted", readNameList)
    .option("--since <time>", "only those stored at or after it", timestamp)
    .option("--until <time>", "only those stored before it", timestamp)
    .option("--limit <count>", "most rows", wholeNumber(1, 100_000), 50)
    .action(async (options: ListOptions, self: Command) => {
      const { endpoint = "", document = "", webhook = "", state = [], since, until, limit } = options;
      const session = await openSession(world, self);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const query = {
        tenantId,
        endpointId: endpoint,
        documentId: document,
        webhookId: webhook,
        states: state,
        ...(since ? { since } : {}),
        ...(until ? { until } : {}),
      };
      const { rows, more } = await walkPages(limit, async (page) => {
        const answer = await delivery.read((client, options) => client.listDeliveries({ ...query, ...page }, options));
        return { rows: answer.deliveries.map(toShown), nextPageToken: answer.nextPageToken };
      });
      const lines = tableOf(rows);
      session.print(rows, more ? `${lines}\n(there are more: --limit)` : lines);
    });
}

function tableOf(rows: readonly ReturnType<typeof toShown>[]): string {
  return table(
    ["id", "state", "attempts", "last", "event", "document", "type", "version", "seq", "webhook", "endpoint", "stored"],
    rows.map((row) => [
      row.id,
      row.state,
      String(row.attemptCount),
      outcomeOf(row.lastAttempt),
      row.event,
      row.documentId ?? "-",
      row.documentType ?? "-",
      row.version === null ? "-" : String(row.version),
      row.sequence === null ? "-" : String(row.sequence),
      row.webhookId,
      row.endpointId,
      row.createdAt ?? "",
    ]),
  );
}
