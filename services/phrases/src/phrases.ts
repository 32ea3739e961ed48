import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { openDoors } from "@vidimus/kit/service/open-doors";
import { type RunningTeamsService, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/tenancy/open-known-tenants";
import { uuidv7 } from "@vidimus/kit/ids";
import type { PhrasesConfig } from "./config.ts";
import { ExportSlots } from "./domain/export-slots.ts";
import { ExportTurns } from "./domain/export-turns.ts";
import { ImportQueue } from "./domain/import/import-queue.ts";
import { phraseRoutes } from "./rpc/phrase-routes.ts";
import { phrasesDatabaseVersion } from "./store/phrases-database-version.ts";
import { PhraseStore } from "./store/phrase-store.ts";

/** For calls without a deadline: enough for the largest import on a slow machine. */
const unaryTimeoutMs = 60_000;

export function startPhrases(config: PhrasesConfig): Promise<RunningTeamsService> {
  return startService("phrases", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "phrases" }));
    await ensureDatabaseVersion(mongo, phrasesDatabaseVersion, config.migrate);
    const phrases = new PhraseStore(mongo.db);
    const routes = phraseRoutes({
      phrases,
      exports: new ExportSlots(),
      exportTurns: new ExportTurns(),
      imports: new ImportQueue(),
      now: () => new Date(),
      mintId: uuidv7,
    });
    const tenants = openKnownTenants(stack, config, process);
    const options = { ...process, tenants, defaultTimeoutMs: unaryTimeoutMs };
    const ports = await openDoors(stack, config, routes, options);
    return { ...ports, check: mongo.ping, checkDegraded: async () => tenants?.check() };
  });
}
