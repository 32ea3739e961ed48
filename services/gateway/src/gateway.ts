import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { openEventBus } from "@vidimus/kit/event-bus";
import type { Logger } from "@vidimus/kit/log";
import type { Metrics } from "@vidimus/kit/metrics";
import { openMongo } from "@vidimus/kit/mongo";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import type { Db } from "mongodb";
import { Counter } from "prom-client";
import type { GatewayConfig } from "./config.ts";
import { KeyVerifier } from "./domain/key-verifier.ts";
import { shareEvictions } from "./evictions.ts";
import { apiDocs } from "./http/docs/api-docs.ts";
import { docsRoutes } from "./http/docs/docs-routes.ts";
import { startHttpServer } from "./http/http-server.ts";
import { Limits } from "./http/limits.ts";
import { type HttpDeps, routes } from "./http/routes.ts";
import { LastUsed } from "./last-used.ts";
import { WriteBudget } from "./limits/write-budget.ts";
import { withGrace } from "./ready-check.ts";
import { accessService } from "./rpc/access-service.ts";
import { ensureIndexes } from "./store/access-database.ts";
import { ApiKeyStore } from "./store/api-key-store.ts";
import { TenantStore } from "./store/tenant-store.ts";
import { WriteBudgetStore } from "./store/write-budget-store.ts";
import { createIntake } from "./upstream/intake.ts";
import { batchReads } from "./upstream/published-reads.ts";
import { trustListCache } from "./upstream/trust-list.ts";

/** A running gateway. */
export interface RunningGateway extends RunningService {
  /** Where the public API listens. */
  readonly httpPort: number;
}

/** A look-up must not make a request wait for a database that is gone: the grace period is for that. */
const lookupMsMax = 1_000;

/** Starts the gateway: the public API, and `vidimus.access.v1` on its internal port. */
export function startGateway(config: GatewayConfig): Promise<RunningGateway> {
  return startService("gateway", config, async (stack, { log, metrics, readiness, pages }) => {
    const { mongoUrl: url, database, host } = config;
    const mongo = stack.use(await openMongo({ url, database, appName: "gateway" }));
    await ensureIndexes(mongo.db);
    const bus = stack.use(openEventBus({ url: config.natsUrl, name: "gateway", log }));
    const tenants = new TenantStore(mongo.client, mongo.db);
    const apiKeys = new ApiKeyStore(mongo.client, mongo.db);
    const verifier = new KeyVerifier({ find: (prefix) => apiKeys.findByPrefix(prefix, lookupMsMax) });
    const evict = shareEvictions(bus, verifier);
    const lastUsed = stack.use(new LastUsed(apiKeys, log));
    const limits = openLimits(config, mongo.db, metrics, log);
    const deps = { ...openClients(config, stack, metrics), chargeWhole: limits.chargeWhole };
    const access = accessService({ tenants, apiKeys, evict, now: () => new Date() });
    const rpc = await startRpcServer({ routes: [access], host, port: config.grpcPort, readiness, log, metrics });
    stack.use(rpc);
    const docs = apiDocs();
    for (const { path, ...page } of docs) pages.set(path, page);
    const http = await startHttpServer({
      host: config.httpHost,
      port: config.httpPort,
      routes: [...routes, ...(config.publicDocs ? docsRoutes(docs) : [])],
      deps,
      verifier,
      limits,
      onUse: ({ keyId }) => lastUsed.note(keyId),
      trustedProxies: config.trustedProxies,
      log,
      registry: metrics.registry,
    });
    stack.use(http);
    return { grpcPort: rpc.port, httpPort: http.port, check: withGrace(mongo.ping) };
  });
}

/** Clients of the services behind the public API. */
function openClients(
  config: GatewayConfig,
  stack: AsyncDisposableStack,
  { registry }: Metrics,
): Omit<HttpDeps, "chargeWhole"> {
  const documents = stack.use(openRpcClient(DocumentService, { target: config.documentsTarget }));
  const published = stack.use(openRpcClient(PublishedDocumentService, { target: config.documentsTarget }));
  const phrases = stack.use(openRpcClient(PhraseService, { target: config.phrasesTarget }));
  const signing = stack.use(openRpcClient(TrustListService, { target: config.signingTarget }));
  return {
    createDocument: createIntake(documents, registry),
    published: { ...published, ...batchReads(published) },
    phrases,
    trustList: trustListCache(signing),
  };
}

function openLimits(config: GatewayConfig, db: Db, { registry }: Metrics, log: Logger): Limits {
  const { ipRate, authFailureRate, writeBudget: rate } = config;
  const passedOpen = new Counter({
    name: "vidimus_write_budget_open_total",
    help: "Charges that passed because the write budget could not be asked.",
    registers: [registry],
  });
  const onOpen = (error: unknown) => {
    passedOpen.inc();
    log.warn({ err: error }, "a write passed uncharged");
  };
  const writeBudget = rate && new WriteBudget({ store: new WriteBudgetStore(db), rate, onOpen });
  return new Limits({ ipRate, authFailureRate, writeBudget, registry });
}
