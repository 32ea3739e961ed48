import { EnvReader } from "@vidimus/kit/env";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { runToEnd } from "@vidimus/kit/service/process";
import { readMigrationConfig } from "./config.ts";
import { localWrappedCustody } from "./custody/local-wrapped.ts";
import { sealFirstRing } from "./store/seal-first-ring.ts";

await runToEnd(async () => {
  const env = new EnvReader(process.env);
  const { mongoUrl, database, kek } = readMigrationConfig(env);
  await using mongo = await openMongo({ url: mongoUrl, database, appName: "signing-migrate" });
  const revision = await sealFirstRing(mongo.db, localWrappedCustody(kek));
  const ring = revision === undefined ? "no ring without a seal" : `the key ring is sealed, revision ${revision}`;
  process.stdout.write(`database ${database}: ${ring}\n`);
});
