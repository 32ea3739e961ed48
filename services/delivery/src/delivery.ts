import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { openEventBus } from "@vidimus/kit/event-bus";
import type { Logger } from "@vidimus/kit/log";
import { openMongo } from "@vidimus/kit/mongo";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { route, startRpcServer } from "@vidimus/kit/rpc/server";
import { type RunningService, startService } from "@vidimus/kit/service";
import { uuidv7 } from "@vidimus/kit/uuid";
import type { Db } from "mongodb";
import type { DeliveryConfig } from "./config.ts";
import { createAddressRule } from "./domain/address-rules.ts";
import { consumeReferences } from "./ingest/consume-references.ts";
import { createIngest } from "./ingest/ingest-snapshots.ts";
import { startReconciler } from "./ingest/reconciler.ts";
import { createGuardedAgent } from "./net/guarded-agent.ts";
import { createPostWebhook } from "./net/post-webhook.ts";
import { createResolve } from "./net/resolve.ts";
import { createEndpoint } from "./rpc/create-endpoint.ts";
import { deleteEndpoint } from "./rpc/delete-endpoint.ts";
import { listEndpoints } from "./rpc/list-endpoints.ts";
import { createEndpointDirectory } from "./send/endpoint-directory.ts";
import { createPayloadShelf } from "./send/payload-shelf.ts";
import { Sender } from "./send/sender.ts";
import { DeliveryQueue } from "./store/delivery-queue.ts";
import { DeliveryStore } from "./store/delivery-store.ts";
import { EndpointStore } from "./store/endpoint-store.ts";
import { ensureIndexes } from "./store/indexes.ts";
import { SnapshotStore } from "./store/snapshot-store.ts";

/** Starts the delivery service: snapshots come in by reference, signed webhooks go out. */
export function startDelivery(config: DeliveryConfig): Promise<RunningService> {
  return startService("delivery", config, async (stack, process) => {
    const mongo = stack.use(await openMongo({ url: config.mongoUrl, database: config.database, appName: "delivery" }));
    await ensureIndexes(mongo.db);
    const mayDial = createAddressRule(config.allowCidrs);
    const stores = openStores(mongo.db);
    const sender = startSender(stack, config, stores, mayDial, process.log);
    startIntake(stack, config, stores, sender, process.log);
    const urlRule = { allowHttp: config.allowHttp, mayDial };
    const endpointService = route(EndpointService, {
      createEndpoint: createEndpoint({ ...stores, urlRule }),
      listEndpoints: listEndpoints(stores),
      deleteEndpoint: deleteEndpoint(stores),
    });
    const { host, grpcPort: port } = config;
    const rpc = stack.use(await startRpcServer({ ...process, host, port, routes: [endpointService] }));
    return { grpcPort: rpc.port, check: mongo.ping };
  });
}

type Stores = ReturnType<typeof openStores>;

function openStores(db: Db) {
  const holder = uuidv7();
  const endpoints = new EndpointStore(db);
  return {
    endpoints,
    directory: createEndpointDirectory(endpoints),
    snapshots: new SnapshotStore(db),
    deliveries: new DeliveryStore(db, holder),
    queue: new DeliveryQueue(db, holder),
  };
}

function startSender(
  stack: AsyncDisposableStack,
  { pace }: DeliveryConfig,
  stores: Stores,
  mayDial: (address: string) => boolean,
  log: Logger,
): Sender {
  const { connectMs, attemptMs, retries, pollMs } = pace;
  const agent = createGuardedAgent({ resolve: createResolve(), mayDial, connectMs });
  stack.defer(() => agent.destroy());
  const post = createPostWebhook({ agent, mayDial, attemptMs });
  const shelf = createPayloadShelf(stores.snapshots);
  const leaseMs = leaseMsOf(pace);
  return stack.use(new Sender({ ...stores, shelf, post, retries, attemptMs, leaseMs, pollMs, log }));
}

function startIntake(
  stack: AsyncDisposableStack,
  config: DeliveryConfig,
  stores: Stores,
  sender: Sender,
  log: Logger,
): void {
  const feed = stack.use(openRpcClient(SnapshotFeedService, { target: config.documentsTarget }));
  const signing = stack.use(openRpcClient(SigningService, { target: config.signingTarget }));
  const { reconcileMs: intervalMs, reconcileAloneMs: aloneMs } = config.pace;
  const ingest = createIngest({ ...stores, feed, signing, sender, log, leaseMs: leaseMsOf(config.pace) });
  const bus = stack.use(openEventBus({ url: config.natsUrl, name: "delivery", log }));
  stack.use(consumeReferences(bus, ingest, log));
  stack.use(startReconciler({ feed, ingest, bus, log, intervalMs, aloneMs }));
}

function leaseMsOf({ attemptMs, leaseMarginMs }: DeliveryConfig["pace"]): number {
  return attemptMs + leaseMarginMs;
}
