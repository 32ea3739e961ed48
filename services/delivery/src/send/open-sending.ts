import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Registry } from "prom-client";
import { type DeliveryPace, leaseMsOf } from "../config.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { Stores } from "../store/open-stores.ts";
import { startClaiming } from "./claim-lanes.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { createEndpointDirectory, type EndpointDirectory } from "./endpoint-directory.ts";
import { createPayloadCache, type PayloadCache } from "./payload-cache.ts";
import { createReactions, type EndpointName, type EndpointReactions } from "./endpoint-reactions.ts";
import { Sender } from "./sender.ts";
import { watchWantedProbes } from "./watch-wanted-probes.ts";

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

/** Everything that sends. */
export interface Sending extends Pick<EndpointReactions, "announce" | "releaseHeld" | "releaseIfEnabled"> {
  readonly sender: Sender;
  readonly directory: EndpointDirectory;
  readonly payloads: PayloadCache;
  readonly leaseMs: number;
  /** Has an endpoint probed within seconds if its breaker is open. A probe is an attempt that is due. */
  wantProbe(endpoint: EndpointName): Promise<void>;
  /** Makes all that waits for an endpoint due: it was mended. Its breaker and its limits still hold. */
  expediteAll(endpoint: EndpointName): Promise<void>;
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
  const wake = () => sender.wake();
  const reactions = createReactions({ deliveries, endpoints, lanes, directory, wake, log }, signal);
  const sending = { ...deps, directory, payloads, retries, attemptMs, leaseMs, metrics, ...reactions };
  const sender = stack.use(new Sender(sending));
  stack.use(watchWantedProbes({ states, sender, pollMs, log }));
  const wantProbe = async ({ tenantId, endpointId }: EndpointName) => {
    if (await states.wantProbe(tenantId, endpointId)) sender.wantProbe(endpointId);
  };
  const expediteAll = async (endpoint: EndpointName) => {
    await lanes.releaseBacklog(endpoint.endpointId, new Date());
    await wantProbe(endpoint);
    sender.wake();
  };
  stack.use(startClaiming({ lanes, states, sender, isPreferredFor, leaseMs, pollMs, overdueMs, log }));
  const takeOver = async () => {
    sender.adopt(await states.list());
    const orphans = await lanes.appointMissingBearers(new Date());
    if (orphans > 0) log.warn({ lanes: orphans }, "lanes had lost their bearers");
    sender.wake();
    // Of a process that died between a change and its announcement, or of one that is at it.
    for (const endpoint of await endpoints.listUnannounced()) reactions.announce(endpoint);
  };
  const takeOverSafely = () => {
    takeOver().catch((error: unknown) =>
      log.warn({ err: error }, "lanes of other replicas wait until they are overdue"),
    );
  };
  takeOverSafely();
  return { sender, directory, payloads, leaseMs, takeOver: takeOverSafely, wantProbe, expediteAll, ...reactions };
}
