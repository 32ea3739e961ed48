import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Registry } from "prom-client";
import { type DeliveryPace, leaseMsOf } from "../config.ts";
import { disabled } from "../domain/change-endpoint.ts";
import type { Lane } from "../domain/delivery.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { Stores } from "../store/open-stores.ts";
import { startClaiming } from "./claim-lanes.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { createEndpointDirectory, type EndpointDirectory } from "./endpoint-directory.ts";
import { createPayloadCache, type PayloadCache } from "./payload-cache.ts";
import { Sender } from "./sender.ts";

interface SendingDeps extends Pick<Stores, "deliveries" | "endpoints" | "journal" | "lanes" | "resentRows" | "states"> {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  /** Whether the trust list has a key. */
  readonly isListed: (keyId: string) => boolean;
  readonly post: PostWebhook;
  readonly pace: DeliveryPace;
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly registry: Registry;
  readonly log: Logger;
}

type EndpointName = Pick<Lane, "tenantId" | "endpointId">;

/** Everything that sends. */
export interface Sending {
  readonly sender: Sender;
  readonly directory: EndpointDirectory;
  readonly payloads: PayloadCache;
  readonly leaseMs: number;
  /** Makes what was held for an endpoint pending: it was enabled. */
  releaseHeld(endpoint: EndpointName): Promise<void>;
  /** Call it after deliveries were stored as held: the endpoint may have been enabled meanwhile. */
  releaseIfEnabled(endpoint: EndpointName): Promise<void>;
  /** Call it when other replicas run than before: this one may be preferred for more tenants. */
  takeOver(): void;
}

/** Opens what attempts deliveries: those that ingest hands over, and those that come due. */
export function openSending(stack: AsyncDisposableStack, deps: SendingDeps, signal: AbortSignal): Sending {
  const { lanes, endpoints, deliveries, states, pace, registry, isPreferredFor, log } = deps;
  const { attemptMs, retries, pollMs, overdueMs } = pace;
  const leaseMs = leaseMsOf(pace);
  const directory = createEndpointDirectory(endpoints);
  const payloads = createPayloadCache(deps, signal);
  const metrics = createDeliveryMetrics({ registry, lanes, endpoints: () => sender.endpoints });
  const disableGone = async ({ tenantId, endpointId }: { tenantId: string; endpointId: string }) => {
    const endpoint = await endpoints.find(tenantId, endpointId);
    // When others change it meanwhile, the next 410 comes.
    if (endpoint) await endpoints.replace(disabled(endpoint, "gone", new Date()));
    directory.forget(endpointId);
  };
  const releaseHeld = async ({ tenantId, endpointId }: EndpointName) => {
    const held = await deliveries.unhold({ tenantId, endpointId });
    // Also when there was none: a process may have died between the two.
    await lanes.appointMissingBearers(new Date(), { tenantId, endpointId });
    if (held > 0) sender.wake();
  };
  const releaseIfEnabled = async ({ tenantId, endpointId }: EndpointName) => {
    // Whoever enables an endpoint changes its row first and releases after it. So what is held
    // before this read is released by one of the two.
    const endpoint = await endpoints.find(tenantId, endpointId);
    if (endpoint?.enabled) await releaseHeld(endpoint);
  };
  const hold = async (endpoint: EndpointName) => {
    await deliveries.hold(endpoint, new Date());
    await releaseIfEnabled(endpoint);
  };
  const sending = { ...deps, directory, payloads, retries, attemptMs, leaseMs, hold, disableGone, metrics };
  const sender = stack.use(new Sender(sending));
  stack.use(startClaiming({ lanes, states, sender, isPreferredFor, leaseMs, pollMs, overdueMs, log }));
  const takeOver = async () => {
    sender.adopt(await states.list());
    const orphans = await lanes.appointMissingBearers(new Date());
    if (orphans > 0) log.warn({ lanes: orphans }, "lanes had lost their bearers");
    sender.wake();
  };
  const takeOverSafely = () => {
    takeOver().catch((error: unknown) =>
      log.warn({ err: error }, "lanes of other replicas wait until they are overdue"),
    );
  };
  takeOverSafely();
  return { sender, directory, payloads, leaseMs, takeOver: takeOverSafely, releaseHeld, releaseIfEnabled };
}
