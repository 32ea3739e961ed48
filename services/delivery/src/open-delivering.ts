import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { type EventBus, openEventBus } from "@vidimus/kit/nats/event-bus";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import type { ServiceContext } from "@vidimus/kit/service/service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { hostname } from "node:os";
import type { DeliveryConfig } from "./config.ts";
import { Ingest } from "./ingest/ingest-snapshots.ts";
import { listenForReferences } from "./ingest/listen-for-references.ts";
import { startReconciler } from "./ingest/reconciler.ts";
import { type Lanes, openLanes } from "./lanes/open-lanes.ts";
import type { PostWebhook } from "./net/post-webhook.ts";
import { Membership } from "./replicas/membership.ts";
import { sendAgain } from "./revocation/send-again.ts";
import { startResigning } from "./revocation/start-resigning.ts";
import type { Stores } from "./store/open-stores.ts";
import { settleWithListedKeys, signWithListedKeys } from "./trust/listed-keys.ts";
import { TrustList } from "./trust/trust-list.ts";

/**
 * Opens ingest and sending. When the stack is disposed, ingest ends before sending, to which it
 * passes lanes.
 */
export async function openDelivering(
  stack: AsyncDisposableStack,
  config: DeliveryConfig,
  stores: Stores,
  post: PostWebhook,
  process: ServiceContext,
) {
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const { log, metrics } = process;
  const { registry } = metrics;
  const { deliveries, endpoints, journal, laneEndings, lanes: laneStore, resentRows, states } = stores;
  const { trustLists } = stores;
  const { pace } = config;
  const clients = openClients(stack, config, process);
  const { feed, trust } = clients;
  const { trustListMs } = pace;
  const trustList = stack.use(await TrustList.open({ trust, trustLists, trustListMs, log, registry }));
  const signing = signWithListedKeys(clients.signing, trustList);
  const membership = stack.use(await join(config, stores, log));
  const lanes = await openLanes(
    stack,
    {
      deliveries,
      endpoints,
      journal,
      laneEndings,
      lanes: laneStore,
      resentRows,
      states,
      feed,
      signing,
      isListed: (keyId) => trustList.isListed(keyId),
      post,
      pace,
      isPreferredFor: (tenantId) => membership.isPreferredFor(tenantId),
      registry,
      log,
    },
    stop.signal,
  );
  membership.onChange(() => lanes.takeOver());
  const bus = openIngest(
    stack,
    { config, stores, clients, signing, trustList, membership, lanes, process },
    stop.signal,
  );
  stack.defer(() => stop.abort());
  return { bus, lanes, clients };
}

function join({ opsPort }: DeliveryConfig, { replicas, replica }: Stores, log: Logger): Promise<Membership> {
  const address = opsPort === 0 ? undefined : `${hostname()}:${opsPort}`;
  return Membership.join({ replicas, replica, address, log });
}

interface OpenIngestDeps {
  readonly config: DeliveryConfig;
  readonly stores: Stores;
  readonly clients: ReturnType<typeof openClients>;
  /**
   * Client of signing. A call rejects unless the trust list has the keys of all signatures in the
   * answer.
   */
  readonly signing: ReturnType<typeof signWithListedKeys>;
  readonly trustList: TrustList;
  readonly membership: Membership;
  readonly lanes: Lanes;
  readonly process: ServiceContext;
}

/**
 * Opens ingest of the snapshots that documents announces or the reconciler finds, and the work that
 * follows a revocation.
 */
function openIngest(
  stack: AsyncDisposableStack,
  { config, stores, clients, signing, trustList, membership, lanes: sending, process }: OpenIngestDeps,
  signal: AbortSignal,
): EventBus {
  const { log, metrics, tracing } = process;
  const { endpoints, deliveries, lanes, laneEndings, resentRows, resigning, resends } = stores;
  const { sender, directory, leaseMs } = sending;
  const { pollMs, resigningGraceMs, resendsPerSecond } = config.pace;
  const { audit } = clients;
  const feed = { getSnapshots: clients.feed.getSnapshots, ...settleWithListedKeys(clients.feed, trustList) };
  const again = { endpoints, deliveries, lanes, resentRows, sender };
  const { noteSignedAnew } = stack.use(
    startResigning({
      feed,
      audit,
      signing,
      trustList,
      resigning,
      resends,
      resigningGraceMs,
      resendsPerSecond,
      pollMs,
      leaseMs,
      sendAgain: (anew) => sendAgain(again, anew),
      log,
    }),
  );
  const storing = { deliveries, lanes, laneEndings, sender, leaseMs };
  const ingest = new Ingest({ ...storing, feed, signing, directory, noteSignedAnew, log, tracing }, signal);
  const bus = stack.use(openEventBus({ ...config.broker, name: "delivery", log, registry: metrics.registry }));
  const isPreferredFor = (tenantId: string) => membership.isPreferredFor(tenantId);
  const isPreferredForPartition = (partition: number) => membership.isPreferredForPartition(partition);
  membership.onChange(listenForReferences({ bus, ingest, isPreferredFor, isPreferredForPartition, log }));
  const { reconcileMs: intervalMs, reconcileAloneMs: aloneMs, overdueMs } = config.pace;
  stack.use(startReconciler({ feed: clients.feed, ingest, bus, isPreferredFor, intervalMs, aloneMs, overdueMs, log }));
  return bus;
}

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
    schemas: stack.use(openRpcClient(SchemaService, documents)),
    signing: stack.use(openRpcClient(SigningService, signing)),
    trust: stack.use(openRpcClient(TrustListService, signing)),
  };
}
