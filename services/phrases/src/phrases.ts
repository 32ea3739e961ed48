import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openSchema } from "@vidimus/kit/mongo/schema";
import { openDoors } from "@vidimus/kit/rpc/open-doors";
import { type RunningTeamsService, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/kit/tenants/open-known-tenants";
import { uuidv7 } from "@vidimus/kit/ids";
import type { PhrasesConfig } from "./config.ts";
import { ExportSlots } from "./domain/export-slots.ts";
import { ExportTurns } from "./domain/export-turns.ts";
import { ImportQueue } from "./domain/import/import-queue.ts";
import { phraseRoutes } from "./rpc/phrase-routes.ts";
import { phrasesSchema } from "./store/phrases-schema.ts";
import { PhraseStore } from "./store/phrase-store.ts";

/**
 * The largest import may take this long on a slow machine. Other calls come with shorter deadlines.
 */
const unaryTimeoutMs = 60_000;

/** Starts the phrases service, which keeps the tenants' dictionaries. */
export function startPhrases(config: PhrasesConfig): Promise<RunningTeamsService> {
  return startService("phrases", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "phrases" }));
    await openSchema(mongo, phrasesSchema, config.migrate);
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
