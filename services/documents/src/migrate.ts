import { EnvReader } from "@vidimus/kit/env";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { runToEnd } from "@vidimus/kit/service/process";
import { parseArgs } from "node:util";
import { readDocumentsBaseConfig } from "./config.ts";
import { migrate, prepareDatabase } from "./store/migrate.ts";
import { Rollout } from "./store/rollout.ts";

/** `--prepare` ends where processes of the version before can still run. */
await runToEnd(async () => {
  const { values } = parseArgs({ options: { prepare: { type: "boolean", default: false } } });
  const env = new EnvReader(process.env);
  const { mongoUrl, database } = readDocumentsBaseConfig(env);
  env.finish();
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "vidimus-documents-migrate" });
  const from = await (values.prepare ? prepareDatabase(mongo) : migrate(mongo));
  const to = await new Rollout(mongo.db).version();
  process.stdout.write(`database ${database}: version ${from} → ${to}\n`);
});
