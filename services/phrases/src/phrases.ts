import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { openMongo } from "@vidimus/kit/mongo";
import { route, startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { PhrasesConfig } from "./config.ts";
import { deletePhrase } from "./rpc/delete-phrase.ts";
import { getDictionaryRevision } from "./rpc/get-dictionary-revision.ts";
import { importPhrases } from "./rpc/import-phrases.ts";
import { listPhrases } from "./rpc/list-phrases.ts";
import { upsertPhrase } from "./rpc/upsert-phrase.ts";
import { PhraseStore } from "./store/phrase-store.ts";

/** As long as the largest import may take on a slow machine; callers bring shorter deadlines for all else. */
const unaryTimeoutMs = 60_000;

/** Starts the phrases service: the tenants' dictionaries, served as `PhraseService`. */
export function startPhrases(config: PhrasesConfig): Promise<RunningService> {
  return startService("phrases", config, async (stack, { log, metrics, readiness }) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "phrases" }));
    const phrases = new PhraseStore(mongo);
    await phrases.ensureIndexes();
    const writing = { phrases, now: () => new Date(), mintId: uuidv7 };
    const rpc = stack.use(
      await startRpcServer({
        routes: [
          route(PhraseService, {
            listPhrases: listPhrases({ phrases }),
            upsertPhrase: upsertPhrase(writing),
            importPhrases: importPhrases(writing),
            deletePhrase: deletePhrase({ phrases }),
            getDictionaryRevision: getDictionaryRevision({ phrases }),
          }),
        ],
        host: config.host,
        port: config.grpcPort,
        readiness,
        log,
        metrics,
        defaultTimeoutMs: unaryTimeoutMs,
      }),
    );
    return { grpcPort: rpc.port, check: mongo.ping };
  });
}
