/**
 * What an operator runs on a database that was restored from a backup, before any service starts
 * again: docs/operations.md, "Restore".
 *
 * - `highest`: prints the highest sequence of any document that has a delivery
 * - `undelivered`: prints, as JSON lines, the references of snapshots that have undelivered rows
 * - `give-up`: reads such lines from stdin, for the snapshots that documents has lost, and gives up
 *   their deliveries
 */
import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { readJsonLines, writeJsonLines } from "@vidimus/kit/json-lines";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { runToEnd } from "@vidimus/kit/service/process";
import { readDeliveryBaseConfig } from "./config.ts";
import type { Reference } from "./domain/payload.ts";
import { deliveryRows } from "./store/delivery-indexes.ts";
import { RestoredDeliveries } from "./store/restored-deliveries.ts";

await runToEnd(async () => {
  const env = new EnvReader(process.env);
  const { mongoUrl, database } = readDeliveryBaseConfig(env);
  env.finish();
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "vidimus-delivery-restore" });
  const deliveries = new RestoredDeliveries(deliveryRows(mongo.db));
  switch (process.argv.slice(2).join(" ")) {
    case "highest":
      process.stdout.write(`${await deliveries.highestSequence()}\n`);
      break;
    case "undelivered":
      await writeJsonLines(process.stdout, deliveries.undelivered());
      break;
    case "give-up": {
      let count = 0;
      const now = new Date();
      for await (const line of readJsonLines(process.stdin)) count += await deliveries.giveUp(toReference(line), now);
      process.stdout.write(`database ${database}: ${count} deliveries given up\n`);
      break;
    }
    default:
      throw new ConfigError("one of: highest; undelivered; give-up");
  }
});

function toReference(line: unknown): Reference {
  if (typeof line === "object" && line !== null && "tenantId" in line && "documentId" in line && "sequence" in line) {
    const { tenantId, documentId, sequence } = line;
    if (typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number") {
      return { tenantId, documentId, sequence };
    }
  }
  throw new TypeError(`stdin names no snapshot: ${JSON.stringify(line)}`);
}
