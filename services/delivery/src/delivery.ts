import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { AuditLog } from "@vidimus/kit/audit/audit-log";
import { openEventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openSchema } from "@vidimus/kit/mongo/schema";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { openDoors } from "@vidimus/kit/rpc/open-doors";
import { type RunningTeamsService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/kit/tenants/open-known-tenants";
import { hostname } from "node:os";
import type { DeliveryConfig, DeliveryPace } from "./config.ts";
import { createAddressRule } from "./domain/address-rules.ts";
import { createPortRule } from "./domain/port-rules.ts";
import { Ingest } from "./ingest/ingest-snapshots.ts";
import { listenForReferences } from "./ingest/listen-for-references.ts";
import { startReconciler } from "./ingest/reconciler.ts";
import { createGuardedAgent, type DialRule } from "./net/guarded-agent.ts";
import { createPostWebhook, type PostWebhook } from "./net/post-webhook.ts";
import { traceAttempts } from "./net/trace-attempts.ts";
import { createResolve } from "./net/resolve.ts";
import { Membership } from "./replicas/membership.ts";
import { startReplays } from "./replay/start-replays.ts";
import type { SignedAnew } from "./revocation/plan-resends.ts";
import { sendAgain } from "./revocation/send-again.ts";
import { startResigning } from "./revocation/start-resigning.ts";
import { deliveryLogRoutes } from "./rpc/delivery-log-routes.ts";
import { endpointRoutes } from "./rpc/endpoint-routes.ts";
import { AuditedEndpoints } from "./store/audited-endpoints.ts";
import { deliverySchema } from "./store/delivery-schema.ts";
import { openLanes } from "./lanes/open-lanes.ts";
import type { EndpointName } from "./rpc/change-endpoint.ts";
import type { EndpointStore } from "./store/endpoint-store.ts";
import { openStores, type Stores } from "./store/open-stores.ts";
import { settleWithListedKeys, signWithListedKeys } from "./trust/listed-keys.ts";
import { TrustList } from "./trust/trust-list.ts";

/**
 * Starts the delivery service: it reads snapshots by reference and posts them as signed webhooks.
 */
export function startDelivery(config: DeliveryConfig): Promise<RunningTeamsService> {
  return startService("delivery", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "delivery" }));
    await openSchema(mongo, deliverySchema, config.migrate);
    const auditLog = await AuditLog.open(mongo, process.log);
    const stores = openStores(mongo.db, config);
    await sealSecrets(stores.endpoints, process.log);
    const rule = { mayDial: createAddressRule(config.allowCidrs), mayUsePort: createPortRule(config.allowPorts) };
    const post = openPost(stack, config.pace, rule, process.tracing);
    const { bus, lanes, clients } = await openDelivering(stack, config, stores, post, process);
    const { endpoints, deliveries, deliveryLog, replays, health } = stores;
    const { directory, payloads, announce, expediteAll, wantProbe, leaseMs } = lanes;
    const { retries, pollMs } = config.pace;
    const { log } = process;
    const resending = { payloads, post, deliveryLog };
    const { feed, audit } = clients;
    stack.use(startReplays({ ...resending, feed, audit, directory, replays, retries, pollMs, leaseMs, log }));
    const hurry = (endpoint: EndpointName) => {
      expediteAll(endpoint).catch((error: unknown) =>
        log.warn({ err: error, endpointId: endpoint.endpointId }, "deliveries wait for the ends of their backoffs"),
      );
    };
    const urlRule = { allowHttp: config.allowHttp, ...rule };
    const audited = new AuditedEndpoints(endpoints, auditLog);
    const changing = { endpoints, audited, directory, announce, hurry };
    const managed = endpointRoutes({ ...changing, audit: auditLog, deliveries, health, post, urlRule, expediteAll });
    const wake = () => lanes.sender.wake();
    const logged = deliveryLogRoutes({ ...resending, endpoints, replays, lanes: stores.lanes, wantProbe, wake });
    const routes = { teams: [...managed.teams, ...logged.teams], mesh: [...managed.mesh, ...logged.mesh] };
    const tenants = openKnownTenants(stack, config, process);
    const ports = await openDoors(stack, config, routes, { ...process, tenants });
    const checkDegraded = async () => void (await Promise.all([bus.ping(), tenants?.check()]));
    return { ...ports, check: mongo.ping, checkDegraded };
  });
}

async function sealSecrets(endpoints: EndpointStore, log: Logger): Promise<void> {
  const sealed = await endpoints.sealAll();
  if (sealed > 0) log.info({ endpoints: sealed }, "encrypted what endpoints keep secret anew, under DELIVERY_KEK_FILE");
}

function openPost(
  stack: AsyncDisposableStack,
  { connectMs, attemptMs }: DeliveryPace,
  rule: DialRule,
  tracing: Tracing | undefined,
): PostWebhook {
  const agent = createGuardedAgent({ resolve: createResolve(), mayDial: rule.mayDial, connectMs });
  stack.defer(() => agent.destroy());
  const post = createPostWebhook({ agent, rule, attemptMs });
  return tracing ? traceAttempts(tracing, post) : post;
}

/** Clients of the services that delivery calls. */
function openClients(
  stack: AsyncDisposableStack,
  { documentsTarget, signingTarget }: DeliveryConfig,
  { tracing, credentialsFor }: Pick<ServiceContext, "tracing" | "credentialsFor">,
) {
  const documents = { target: documentsTarget, credentials: credentialsFor("documents"), tracing };
  const signing = { target: signingTarget, credentials: credentialsFor("signing"), tracing };
  return {
    feed: stack.use(openRpcClient(SnapshotFeedService, documents)),
    audit: stack.use(openRpcClient(SignatureAuditService, documents)),
    signing: stack.use(openRpcClient(SigningService, signing)),
    trust: stack.use(openRpcClient(TrustListService, signing)),
  };
}

/** Opens what takes snapshots in and what sends them. Intake ends first, sending after it. */
async function openDelivering(
  stack: AsyncDisposableStack,
  config: DeliveryConfig,
  stores: Stores,
  post: PostWebhook,
  { log, metrics: { registry }, tracing, credentialsFor }: ServiceContext,
) {
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const { pace } = config;
  const clients = openClients(stack, config, { tracing, credentialsFor });
  const { trustListMs } = pace;
  const { trustLists, replicas, replica } = stores;
  const trustList = stack.use(await TrustList.open({ ...clients, trustLists, trustListMs, log, registry }));
  const isListed = (keyId: string) => trustList.isListed(keyId);
  const { feed, audit } = clients;
  const signing = signWithListedKeys(clients.signing, trustList);
  const address = config.opsPort === 0 ? undefined : `${hostname()}:${config.opsPort}`;
  const membership = stack.use(await Membership.join({ replicas, replica, address, log }));
  const isPreferredFor = (tenantId: string) => membership.isPreferredFor(tenantId);
  const isPreferredForPartition = (partition: number) => membership.isPreferredForPartition(partition);
  const toSend = { feed, signing, isListed, post, pace, isPreferredFor, registry, log };
  const lanes = await openLanes(stack, { ...stores, ...toSend }, stop.signal);
  membership.onChange(() => lanes.takeOver());
  const { sender, directory, leaseMs } = lanes;
  const storing = { ...stores, sender, directory, leaseMs };
  const again = (anew: readonly SignedAnew[]) => sendAgain(storing, anew);
  const settling = { getSnapshots: feed.getSnapshots, ...settleWithListedKeys(feed, trustList) };
  const taking = { feed: settling, signing, log };
  const revocations = stack.use(startResigning({ ...storing, ...pace, ...taking, audit, trustList, sendAgain: again }));
  const { noteSignedAnew } = revocations;
  const ingest = new Ingest({ ...storing, ...taking, noteSignedAnew, tracing }, stop.signal);
  const bus = stack.use(openEventBus({ ...config.broker, name: "delivery", log, registry }));
  membership.onChange(listenForReferences({ bus, ingest, isPreferredFor, isPreferredForPartition, log }));
  const { reconcileMs: intervalMs, reconcileAloneMs: aloneMs, overdueMs } = pace;
  const walks = { intervalMs, aloneMs, overdueMs, isPreferredFor };
  stack.use(startReconciler({ feed, ingest, bus, log, ...walks }));
  stack.defer(() => stop.abort());
  return { bus, lanes, clients };
}
