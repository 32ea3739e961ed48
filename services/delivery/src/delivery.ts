import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { openDoors } from "@vidimus/kit/rpc/open-doors";
import { type RunningTeamsService, type ServiceContext, startService } from "@vidimus/kit/service/service";
import { openKnownTenants } from "@vidimus/kit/tenants/open-known-tenants";
import { uuidv7 } from "@vidimus/kit/ids";
import type { Db } from "mongodb";
import type { DeliveryConfig, DeliveryPace } from "./config.ts";
import { createAddressRule } from "./domain/address-rules.ts";
import { createPortRule } from "./domain/port-rules.ts";
import { consumeReferences } from "./ingest/consume-references.ts";
import { createIngest } from "./ingest/ingest-snapshots.ts";
import { startReconciler } from "./ingest/reconciler.ts";
import { createGuardedAgent, type DialRule } from "./net/guarded-agent.ts";
import { createPostWebhook, type PostWebhook } from "./net/post-webhook.ts";
import { createResolve } from "./net/resolve.ts";
import { endpointRoutes } from "./rpc/endpoint-routes.ts";
import { createEndpointDirectory } from "./send/endpoint-directory.ts";
import { createPayloadShelf } from "./send/payload-shelf.ts";
import { Sender } from "./send/sender.ts";
import { DeliveryQueue } from "./store/delivery-queue.ts";
import { DeliveryStore } from "./store/delivery-store.ts";
import { EndpointStore } from "./store/endpoint-store.ts";
import { createSecretBox, type SecretBox } from "./store/secret-box.ts";
import { PayloadStore } from "./store/payload-store.ts";

/**
 * Starts the delivery service: it reads snapshots by reference and posts them as signed webhooks.
 */
export function startDelivery(config: DeliveryConfig): Promise<RunningTeamsService> {
  return startService("delivery", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "delivery" }));
    const box = createSecretBox(config.kek, config.otherKek);
    const stores = await openStores(mongo.db, box);
    await sealSecrets(stores.endpoints, process.log);
    const rule = { mayDial: createAddressRule(config.allowCidrs), mayUsePort: createPortRule(config.allowPorts) };
    const post = openPost(stack, config.pace, rule);
    const sender = startSender(stack, config, stores, post, process.log);
    const bus = startIngest(stack, config, stores, sender, process);
    const urlRule = { allowHttp: config.allowHttp, ...rule };
    const routes = endpointRoutes({ ...stores, post, urlRule });
    const tenants = openKnownTenants(stack, config, process);
    const ports = await openDoors(stack, config, routes, { ...process, tenants });
    const checkDegraded = async () => void (await Promise.all([bus.ping(), tenants?.check()]));
    return { ...ports, check: mongo.ping, checkDegraded };
  });
}

type Stores = Awaited<ReturnType<typeof openStores>>;

async function openStores(db: Db, box: SecretBox) {
  const holder = uuidv7();
  const endpoints = new EndpointStore(db, box);
  const payloads = new PayloadStore(db);
  const deliveries = new DeliveryStore(db, holder);
  for (const store of [endpoints, payloads, deliveries]) await store.ensureIndexes();
  const directory = createEndpointDirectory(endpoints);
  return { endpoints, directory, payloads, deliveries, queue: new DeliveryQueue(db, holder) };
}

async function sealSecrets(endpoints: EndpointStore, log: Logger): Promise<void> {
  const sealed = await endpoints.sealAll();
  if (sealed > 0) log.info({ endpoints: sealed }, "encrypted what endpoints keep secret under DELIVERY_KEK_FILE");
}

function openPost(stack: AsyncDisposableStack, { connectMs, attemptMs }: DeliveryPace, rule: DialRule): PostWebhook {
  const agent = createGuardedAgent({ resolve: createResolve(), mayDial: rule.mayDial, connectMs });
  stack.defer(() => agent.destroy());
  return createPostWebhook({ agent, rule, attemptMs });
}

function startSender(
  stack: AsyncDisposableStack,
  { pace }: DeliveryConfig,
  stores: Stores,
  post: PostWebhook,
  log: Logger,
): Sender {
  const { attemptMs, retries, pollMs } = pace;
  const shelf = createPayloadShelf(stores.payloads);
  const leaseMs = leaseMsOf(pace);
  return stack.use(new Sender({ ...stores, shelf, post, retries, attemptMs, leaseMs, pollMs, log }));
}

function startIngest(
  stack: AsyncDisposableStack,
  config: DeliveryConfig,
  stores: Stores,
  sender: Sender,
  { log, metrics: { registry }, credentialsFor }: ServiceContext,
): EventBus {
  const toDocuments = { target: config.documentsTarget, credentials: credentialsFor("documents") };
  const toSigning = { target: config.signingTarget, credentials: credentialsFor("signing") };
  const feed = stack.use(openRpcClient(SnapshotFeedService, toDocuments));
  const signing = stack.use(openRpcClient(SigningService, toSigning));
  const { reconcileMs: intervalMs, reconcileAloneMs: aloneMs } = config.pace;
  const ingest = createIngest({ ...stores, feed, signing, sender, log, leaseMs: leaseMsOf(config.pace) });
  const bus = stack.use(openEventBus({ ...config.broker, name: "delivery", log, registry }));
  stack.use(consumeReferences(bus, ingest, log));
  stack.use(startReconciler({ feed, ingest, bus, log, intervalMs, aloneMs }));
  return bus;
}

function leaseMsOf({ attemptMs, leaseMarginMs }: DeliveryConfig["pace"]): number {
  return attemptMs + leaseMarginMs;
}
