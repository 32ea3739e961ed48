import { parseArgs } from "node:util";
import { EnvReader } from "../env.ts";
import { runToEnd } from "./process.ts";
import { readDatabase } from "./service.ts";
import { openMongo } from "../mongo/mongo.ts";
import { migrate, type DatabaseVersion } from "../mongo/database-version.ts";

/**
 * Runs `src/migrate.ts [--prepare]` of a service, the command of its Job. With `--prepare` rows are
 * not rewritten, so that processes of the version before can still run.
 */
export async function runMigrate(service: string, wanted: DatabaseVersion, database: string): Promise<void> {
  await runToEnd(async () => {
    const { values } = parseArgs({ options: { prepare: { type: "boolean", default: false } } });
    const env = new EnvReader(process.env);
    const settings = readDatabase(env, database);
    env.finish();
    const { mongoUrl: url, database: name } = settings;
    await using mongo = await openMongo({ url, database: name, appName: `${service}-migrate` });
    const { from, to } = await migrate(mongo, wanted, values.prepare ? "prepare" : "on");
    process.stdout.write(`database ${name}: version ${from} → ${to}\n`);
  });
}
