import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { openEventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { openDoors } from "@vidimus/kit/service/open-doors";
import { type RunningTeamsService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import type { Db } from "mongodb";
import { Counter } from "prom-client";
import type { GatewayConfig } from "./config.ts";
import { KeyVerifier } from "./access/key-verifier.ts";
import { shareEvictions } from "./access/evictions.ts";
import { opsDocs, publicDocs } from "./api-docs/api-docs.ts";
import { docsRoutes } from "./api-docs/docs-routes.ts";
import { startHttpServer } from "./http/http-server.ts";
import { RateLimits } from "./rates/rate-limits.ts";
import { type HttpDeps, routes } from "./endpoints/routes.ts";
import { LastUsed } from "./access/last-used.ts";
import { WriteBudget } from "./rates/write-budget.ts";
import { withGrace } from "./ready-check.ts";
import { accessRoutes } from "./rpc/access-routes.ts";
import { memberRoutes } from "./rpc/members/member-routes.ts";
import { tenantRoutes } from "./rpc/tenant-routes.ts";
import { accessDatabaseVersion } from "./store/access-database.ts";
import { ApiKeyStore } from "./store/api-key-store.ts";
import { InvitationStore } from "./store/invitation-store.ts";
import { MemberStore } from "./store/member-store.ts";
import { SignInLinkStore } from "./store/sign-in-link-store.ts";
import { TrustListStore } from "./store/trust-list-store.ts";
import { TenantStore } from "./store/tenant-store.ts";
import { WriteBudgetStore } from "./store/write-budget-store.ts";
import { exportWindowBytes } from "./http/answers/export-window.ts";
import { createInBatches } from "./upstream/create-in-batches.ts";
import { batchReads } from "./upstream/published-reads.ts";
import { trustListCache } from "./upstream/trust-list.ts";

interface RunningGateway extends RunningTeamsService {
  /** Port of the public API. */
  readonly httpPort: number;
}

/**
 * Longest wait of a request for the look-up of its key. When the database does not answer in time,
 * cached keys are used instead.
 */
const lookupMsMax = 1_000;

/** Starts the gateway: the public API, and `vidimus.access.v1` on its teams door and mesh door. */
export function startGateway(config: GatewayConfig): Promise<RunningGateway> {
  return startService("gateway", config, async (stack, process) => {
    const { log, metrics, tracing, pages } = process;
    const { mongoUrl: url, database } = config;
    const mongo = stack.use(await openMongo({ url, database, appName: "gateway" }));
    await ensureDatabaseVersion(mongo, accessDatabaseVersion, config.migrate);
    const bus = stack.use(openEventBus({ ...config.broker, name: "gateway", log, registry: metrics.registry }));
    const audit = await AuditLog.open(mongo, log);
    const now = () => new Date();
    const tenants = new TenantStore(mongo.db, audit);
    const apiKeys = new ApiKeyStore(mongo.db, audit);
    const people = {
      members: new MemberStore(mongo.db, audit),
      invitations: new InvitationStore(mongo.db, audit),
      signInLinks: new SignInLinkStore(mongo.db, audit),
    };
    const verifier = new KeyVerifier({ find: (prefix) => apiKeys.findByPrefix(prefix, lookupMsMax) });
    const evict = shareEvictions(bus, verifier);
    const lastUsed = stack.use(new LastUsed(apiKeys, log));
    const limits = openLimits(config, stack, mongo.db, metrics, log);
    const deps = { ...openClients(config, stack, mongo.db, process), chargeWhole: limits.chargeWhole };
    const teams = [accessRoutes({ tenants, apiKeys, audit, evict, now }), memberRoutes({ ...people, now })];
    const ports = await openDoors(stack, config, { teams, mesh: [tenantRoutes({ tenants })] }, process);
    for (const { path, ...page } of opsDocs()) pages.set(path, page);
    const http = await startHttpServer({
      host: config.httpHost,
      port: config.httpPort,
      routes: [...routes, ...(config.publicDocs ? docsRoutes(publicDocs()) : [])],
      deps,
      verifier,
      limits,
      onUse: ({ keyId }) => lastUsed.note(keyId),
      trustedProxies: config.trustedProxies,
      help: helpOf(config),
      log,
      registry: metrics.registry,
      tracing,
    });
    stack.use(http);
    return { ...ports, httpPort: http.port, check: withGrace(mongo.ping), checkDegraded: () => bus.ping() };
  });
}

/** URL or path of the page that explains error codes to clients; undefined when none is public. */
function helpOf({ docsUrl, publicDocs }: GatewayConfig): string | undefined {
  if (docsUrl !== undefined) return `${docsUrl}/errors`;
  return publicDocs ? "/docs/errors" : undefined;
}

function openClients(
  config: GatewayConfig,
  stack: AsyncDisposableStack,
  db: Db,
  { log, metrics, tracing, credentialsFor }: ServiceContext,
): Omit<HttpDeps, "chargeWhole"> {
  const toDocuments = { target: config.documentsTarget, credentials: credentialsFor("documents"), tracing };
  const toPhrases = { target: config.phrasesTarget, credentials: credentialsFor("phrases"), tracing };
  const toSigning = { target: config.signingTarget, credentials: credentialsFor("signing"), tracing };
  const toDelivery = { target: config.deliveryTarget, credentials: credentialsFor("delivery"), tracing };
  const documents = stack.use(openRpcClient(DocumentService, toDocuments));
  const published = stack.use(openRpcClient(PublishedDocumentService, toDocuments));
  const phrases = stack.use(openRpcClient(PhraseService, { ...toPhrases, windowBytes: exportWindowBytes }));
  const signing = stack.use(openRpcClient(TrustListService, toSigning));
  const endpoints = stack.use(openRpcClient(EndpointService, toDelivery));
  const deliveries = stack.use(openRpcClient(DeliveryLogService, toDelivery));
  return {
    endpoints,
    deliveries,
    createDocument: createInBatches(documents, metrics.registry),
    published: { ...published, ...batchReads(published) },
    phrases,
    trustList: trustListCache({ signing, keeper: new TrustListStore(db), log, registry: metrics.registry }),
  };
}

function openLimits(
  config: GatewayConfig,
  stack: AsyncDisposableStack,
  db: Db,
  { registry }: Metrics,
  log: Logger,
): RateLimits {
  const { ipRate, authFailureRate, writeBudget: rate } = config;
  const passedOpen = new Counter({
    name: "vidimus_write_budget_open_total",
    help: "Charges that passed because the write budget could not be asked; an import makes two.",
    registers: [registry],
  });
  const onOpen = (error: unknown, charges: number) => {
    passedOpen.inc(charges);
    log.warn({ err: error, charges }, "writes passed uncharged");
  };
  const writeBudget = rate && stack.use(new WriteBudget({ store: new WriteBudgetStore(db), rate, onOpen }));
  return new RateLimits({ ipRate, authFailureRate, writeBudget, registry });
}
