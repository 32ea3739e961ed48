import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Registry } from "prom-client";
import { type DeliveryPace, leaseMsOf } from "../config.ts";
import { aheadMsOf } from "../domain/lease-ahead.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { Stores } from "../store/open-stores.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { startClaiming } from "./claim-rounds.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { startEndingOld } from "./end-old-deliveries.ts";
import { createEndpointDirectory, type EndpointDirectory } from "./endpoint-directory.ts";
import { EndpointQueues } from "./endpoint-queues.ts";
import { createReactions, type EndpointName, type EndpointReactions } from "./endpoint-reactions.ts";
import { MissingBodies } from "./missing-bodies.ts";
import { createPayloadCache, type PayloadCache } from "./payload-cache.ts";
import { Sender } from "./sender.ts";
import { StoredGates } from "./stored-gates.ts";
import { takeOverUntilDone } from "./take-over.ts";
import { watchWantedProbes } from "./watch-wanted-probes.ts";

interface LanesDeps extends Pick<
  Stores,
  "deliveries" | "endpoints" | "journal" | "laneEndings" | "lanes" | "resentRows" | "states"
> {
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
export interface Lanes {
  readonly sender: Sender;
  readonly directory: EndpointDirectory;
  readonly payloads: PayloadCache;
  readonly leaseMs: number;
  readonly announce: EndpointReactions["announce"];
  /** Has an endpoint probed within seconds if its breaker is open. A probe is an attempt that is due. */
  wantProbe(endpoint: EndpointName): Promise<void>;
  /** Makes all that waits for an endpoint due: it was mended. Its breaker and its limits still hold. */
  expediteAll(endpoint: EndpointName): Promise<void>;
  /** Call it when other replicas run than before: this one may be preferred for more tenants. */
  takeOver(): void;
}

/** The most bytes of bodies that leased lanes need at once. */
const bodyBytesMax = 40 * 1024 * 1024;

/**
 * Opens what attempts deliveries: those that ingest hands over, and those that come due. Resolves
 * when it is known which endpoints are in trouble; nothing is sent before.
 */
export async function openLanes(stack: AsyncDisposableStack, deps: LanesDeps, signal: AbortSignal): Promise<Lanes> {
  const { lanes, endpoints, deliveries, laneEndings, states, pace, registry, isPreferredFor, log } = deps;
  const { attemptMs, retries, pollMs, overdueMs, endOldMs } = pace;
  const leaseMs = leaseMsOf(pace);
  const alarm = new Alarm();
  const wake = () => alarm.ring();
  const directory = createEndpointDirectory(endpoints);
  const payloads = createPayloadCache(deps, signal);
  const { announce, announceClosed, announceExpiry, disableGone } = createReactions(
    { deliveries, endpoints, lanes, directory, wake, log },
    signal,
  );
  const gates = new StoredGates({ states, announceClosed, log });
  const bodies = new BodyBudget(bodyBytesMax);
  const missingBodies = new MissingBodies();
  const aheadMs = aheadMsOf({ leaseMs, attemptMs });
  const shared = { aheadMs, bodyBytes: payloads.meanBytes, answerTimes: new AnswerTimes(), bodies };
  const queues = new EndpointQueues({ shared, states, gates, isPreferredFor });
  queues.noteTakeover();
  await queues.readGates();
  const metrics = createDeliveryMetrics({ registry, lanes, endpoints, queues });
  const { journal, resentRows, post } = deps;
  const attempting = { directory, payloads, lanes, journal, resentRows, post, retries, attemptMs, leaseMs, log };
  const sender = stack.use(
    new Sender({ ...attempting, queues, gates, bodies, missingBodies, alarm, deliveries, disableGone, metrics }),
  );
  stack.use(watchWantedProbes({ states, queues, sender, pollMs, log }));
  stack.use(startClaiming({ lanes, queues, sender, alarm, isPreferredFor, pollMs, overdueMs, log }));
  const { ageMsMax } = retries;
  stack.use(startEndingOld({ lanes, laneEndings, endpoints, announceExpiry, isPreferredFor, ageMsMax, endOldMs, log }));
  const wantProbe = async ({ tenantId, endpointId }: EndpointName) => {
    if (await states.wantProbe(tenantId, endpointId)) sender.wantProbe(endpointId);
  };
  const expediteAll = async (endpoint: EndpointName) => {
    await lanes.expediteEndpoint(endpoint.endpointId, new Date());
    await wantProbe(endpoint);
    wake();
  };
  const takeOver = () => takeOverUntilDone({ queues, lanes, endpoints, announce, wake, log }, signal);
  takeOver();
  return { sender, directory, payloads, leaseMs, announce, wantProbe, expediteAll, takeOver };
}
