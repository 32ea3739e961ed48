/**
 * What an operator runs on a database that was restored from a backup, before any service starts
 * again: docs/operations.md, "Restore".
 *
 * - `highest`: prints the highest sequence of any document
 * - `lift --above N [--renumber-pending] [--dry-run]`: new snapshots get sequences above N
 * - `signatures`: prints the signatures of snapshots, for signing
 * - `missing`: reads references of snapshots from stdin, and prints those that this database lacks
 */
import { ConfigError, EnvReader } from "@vidimus/kit/env";
import { readJsonLines, writeJsonLines } from "@vidimus/kit/json-lines";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { runToEnd } from "@vidimus/kit/service/process";
import { parseArgs } from "node:util";
import { readDocumentsBaseConfig } from "./config.ts";
import type { SnapshotKey } from "./domain/snapshots/snapshot-feed.ts";
import { documentsDatabaseVersion } from "./store/documents-database-version.ts";
import { liftSequences } from "./store/lift-sequences.ts";
import { RestoredSnapshots } from "./store/restored-snapshots.ts";
import { SequenceFloor } from "./store/sequence-floor.ts";

/** Most snapshots in one query. */
const keysMax = 1_000;
const usage = "one of: highest; lift --above N [--renumber-pending] [--dry-run]; signatures; missing";

await runToEnd(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      above: { type: "string" },
      "renumber-pending": { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
    },
  });
  const env = new EnvReader(process.env);
  const { mongoUrl, database } = readDocumentsBaseConfig(env);
  env.finish();
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "vidimus-documents-restore" });
  await ensureDatabaseVersion(mongo, documentsDatabaseVersion, "off");
  const snapshots = new RestoredSnapshots(mongo.client, mongo.db);
  switch (positionals.join(" ")) {
    case "highest":
      process.stdout.write(`${await snapshots.highestSequence()}\n`);
      break;
    case "lift": {
      const above = readAbove(values.above);
      const renumberPending = values["renumber-pending"];
      const floor = new SequenceFloor(mongo.db);
      const report = await liftSequences({ snapshots, floor }, { above, renumberPending, dryRun: values["dry-run"] });
      process.stdout.write(`database ${database}: ${report}\n`);
      break;
    }
    case "signatures":
      await writeJsonLines(process.stdout, snapshots.signatures());
      break;
    case "missing":
      await writeJsonLines(process.stdout, missing(snapshots));
      break;
    default:
      throw new ConfigError(usage);
  }
});

function readAbove(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new ConfigError(`--above must be a whole number from 1 to 999999999999, not ${JSON.stringify(text ?? "")}`);
}

async function* missing(snapshots: RestoredSnapshots): AsyncGenerator<SnapshotKey> {
  let keys: SnapshotKey[] = [];
  for await (const line of readJsonLines(process.stdin)) {
    keys.push(toKey(line));
    if (keys.length < keysMax) continue;
    yield* await snapshots.missing(keys);
    keys = [];
  }
  yield* await snapshots.missing(keys);
}

function toKey(line: unknown): SnapshotKey {
  if (typeof line === "object" && line !== null && "tenantId" in line && "documentId" in line && "sequence" in line) {
    const { tenantId, documentId, sequence } = line;
    if (typeof tenantId === "string" && typeof documentId === "string" && typeof sequence === "number") {
      return { tenantId, documentId, sequence };
    }
  }
  throw new TypeError(`stdin names no snapshot: ${JSON.stringify(line)}`);
}
