import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { type DoorRoutes, openDoors } from "@vidimus/kit/service/open-doors";
import { type RunningTeamsService, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/tenancy/open-known-tenants";
import type { DeliveryConfig } from "./config.ts";
import { createAddressRule } from "./domain/address-rules.ts";
import type { UrlRule } from "./domain/endpoint-url.ts";
import { createPortRule } from "./domain/port-rules.ts";
import { createGuardedAgent, type DialRule } from "./net/guarded-agent.ts";
import { createPostWebhook, type PostWebhook } from "./net/post-webhook.ts";
import { traceAttempts } from "./net/trace-attempts.ts";
import { createResolve } from "./net/resolve.ts";
import { replaceKek } from "./replace-kek.ts";
import { reportUnopened } from "./report-unopened.ts";
import type { CountWantedDeps } from "./replay/count-wanted.ts";
import { startReplays } from "./replay/start-replays.ts";
import { deliveryLogRoutes } from "./rpc/delivery-log-routes.ts";
import { endpointRoutes } from "./rpc/endpoint-routes.ts";
import type { KnownTypesDeps } from "./rpc/known-types.ts";
import { openDelivering } from "./open-delivering.ts";
import { AuditedEndpoints } from "./store/audited-endpoints.ts";
import { AuditedReplays } from "./store/audited-replays.ts";
import { deliveryDatabaseVersion } from "./store/delivery-database-version.ts";
import type { Lanes } from "./lanes/open-lanes.ts";
import type { EndpointKey } from "./domain/endpoint-key.ts";
import { openStores, type Stores } from "./store/open-stores.ts";

export function startDelivery(config: DeliveryConfig): Promise<RunningTeamsService> {
  return startService("delivery", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "delivery" }));
    await ensureDatabaseVersion(mongo, deliveryDatabaseVersion, config.migrate);
    const auditLog = await AuditLog.open(mongo, process.log);
    const stores = openStores(mongo.db, config);
    reportUnopened(stores.endpoints.unopened, process.metrics.registry, process.log);
    stack.use(await replaceKek({ ...stores, pace: config.pace, log: process.log }));
    const mayDial = createAddressRule(config.allowCidrs, config.denyCidrs);
    const rule = { mayDial, mayUsePort: createPortRule(config.allowPorts) };
    const post = openPost(stack, config, rule, process.tracing);
    const { bus, lanes, clients } = await openDelivering(stack, config, stores, post, process);
    const { deliveryLog, replays } = stores;
    const { directory, payloads, leaseMs } = lanes;
    const { retries, pollMs } = config.pace;
    const { feed, audit } = clients;
    const { log } = process;
    stack.use(
      startReplays({ feed, audit, payloads, post, deliveryLog, directory, replays, retries, pollMs, leaseMs, log }),
    );
    const urlRule = { allowHttp: config.allowHttp, ...rule };
    const routes = routesOf({ stores, lanes, clients, post, urlRule, audit: auditLog, log });
    const tenants = openKnownTenants(stack, config, process);
    const ports = await openDoors(stack, config, routes, { ...process, tenants });
    const checkDegraded = async () => void (await Promise.all([bus.ping(), tenants?.check()]));
    return { ...ports, check: mongo.ping, checkDegraded };
  });
}

interface RoutesDeps {
  readonly stores: Stores;
  readonly lanes: Lanes;
  readonly clients: KnownTypesDeps & Pick<CountWantedDeps, "feed" | "audit">;
  readonly post: PostWebhook;
  readonly urlRule: UrlRule;
  readonly audit: AuditLog;
  readonly log: Logger;
}

function routesOf({ stores, lanes, clients, post, urlRule, audit, log }: RoutesDeps): DoorRoutes {
  const { endpoints, deliveryLog, deliveryCounts, replays, health } = stores;
  const { feed, schemas } = clients;
  const { directory, payloads, announce, deleteUndelivered, expediteAll, wantProbe } = lanes;
  const expedite = (endpoint: EndpointKey) => {
    expediteAll(endpoint).catch((error: unknown) =>
      log.warn({ err: error, endpointId: endpoint.endpointId }, "deliveries wait for the ends of their backoffs"),
    );
  };
  const managed = endpointRoutes({
    endpoints,
    audited: new AuditedEndpoints(endpoints, audit),
    audit,
    deleteUndelivered,
    health,
    directory,
    announce,
    expedite,
    expediteAll,
    schemas,
    post,
    urlRule,
  });
  const logged = deliveryLogRoutes({
    endpoints,
    deliveryLog,
    deliveryCounts,
    feed,
    audit: clients.audit,
    lanes: stores.lanes,
    replays,
    auditedReplays: new AuditedReplays(replays, audit),
    payloads,
    post,
    wantProbe,
    wake: () => lanes.sender.wake(),
  });
  return { teams: [...managed.teams, ...logged.teams], mesh: [...managed.mesh, ...logged.mesh] };
}

function openPost(
  stack: AsyncDisposableStack,
  { pace: { connectMs, attemptMs }, egressProxy: proxy }: Pick<DeliveryConfig, "pace" | "egressProxy">,
  rule: DialRule,
  tracing: Tracing | undefined,
): PostWebhook {
  const agent = createGuardedAgent({ resolve: createResolve(), mayDial: rule.mayDial, connectMs, proxy });
  stack.defer(() => agent.destroy());
  const post = createPostWebhook({ agent, rule, attemptMs });
  return tracing ? traceAttempts(tracing, post) : post;
}
