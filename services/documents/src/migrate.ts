import { EnvReader } from "@vidimus/kit/env";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { runToEnd } from "@vidimus/kit/service/process";
import { readDocumentsBaseConfig } from "./config.ts";
import { migrate, schemaVersion } from "./store/migrate.ts";

await runToEnd(async () => {
  const env = new EnvReader(process.env);
  const { mongoUrl, database } = readDocumentsBaseConfig(env);
  env.finish();
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "vidimus-documents-migrate" });
  const from = await migrate(mongo);
  process.stdout.write(`database ${database}: version ${from} → ${schemaVersion}\n`);
});
