import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Registry } from "prom-client";
import { aheadMsOf, leaseMsOf } from "../domain/lease-ahead.ts";
import type { RetryPlan } from "../domain/retry-plan.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { Stores } from "../store/open-stores.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { startClaiming } from "./claim-rounds.ts";
import { createDeleteUndelivered, type DeleteUndelivered } from "./delete-undelivered.ts";
import { createDeliveryMetrics } from "./delivery-metrics.ts";
import { startEndingOld } from "./end-old-deliveries.ts";
import { createEndpointDirectory, type EndpointDirectory } from "./endpoint-directory.ts";
import { EndpointQueues } from "./endpoint-queues.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { createReactions, type EndpointReactions } from "./endpoint-reactions.ts";
import { FreshTenants } from "./fresh-tenants.ts";
import { MissingBodies } from "./missing-bodies.ts";
import { createPayloadCache, type PayloadCache } from "./payload-cache.ts";
import { Sender } from "./sender.ts";
import { StoredGates } from "./stored-gates.ts";
import { takeOverUntilDone } from "./take-over.ts";
import { watchWantedProbes } from "./watch-wanted-probes.ts";

/** See `DeliveryPace`. */
interface LanesPace {
  readonly attemptMs: number;
  readonly leaseMarginMs: number;
  readonly pollMs: number;
  readonly overdueMs: number;
  readonly endOldMs: number;
  readonly retries: RetryPlan;
}

interface LanesDeps extends Pick<
  Stores,
  "deliveries" | "endpoints" | "journal" | "laneEndings" | "lanes" | "resentRows" | "states"
> {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  /** Whether the trust list has a key; payloads that other keys signed are made again. */
  readonly isListed: (keyId: string) => boolean;
  readonly post: PostWebhook;
  readonly pace: LanesPace;
  readonly isPreferredFor: (tenantId: string) => boolean;
  readonly registry: Registry;
  readonly log: Logger;
}

/** What the rest of the service uses of the parts that attempt deliveries. */
export interface Lanes {
  readonly sender: Sender;
  readonly directory: EndpointDirectory;
  readonly payloads: PayloadCache;
  readonly leaseMs: number;
  readonly deleteUndelivered: DeleteUndelivered;
  readonly announce: EndpointReactions["announce"];
  /** Lets the next probe of an open breaker wait for nothing but a `Retry-After`. */
  wantProbe(endpoint: EndpointKey): Promise<void>;
  /**
   * Ends the backoffs of an endpoint's lanes without a lease, and calls `wantProbe`. Breaker and
   * limits still apply.
   */
  expediteAll(endpoint: EndpointKey): Promise<void>;
  /**
   * Call this when the set of running replicas has changed: this one may be preferred for more
   * tenants.
   */
  takeOver(): void;
}

/** Most bytes of bodies that leased lanes need at once. */
const bodyBytesMax = 40 * 1024 * 1024;

/**
 * Opens the parts that attempt deliveries. Resolves once the stored gates are read; nothing is sent
 * before.
 */
export async function openLanes(stack: AsyncDisposableStack, deps: LanesDeps, signal: AbortSignal): Promise<Lanes> {
  const { lanes, endpoints, deliveries, laneEndings, states, pace, registry, isPreferredFor, log } = deps;
  const { attemptMs, retries, pollMs, overdueMs, endOldMs } = pace;
  const leaseMs = leaseMsOf(pace);
  const alarm = new Alarm();
  const wake = () => alarm.ring();
  const directory = createEndpointDirectory(endpoints);
  const fresh = new FreshTenants();
  const payloads = createPayloadCache(deps, fresh, signal);
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
  const deleteUndelivered = createDeleteUndelivered({ deliveries, log }, signal);
  const metrics = createDeliveryMetrics({ registry, lanes, endpoints, queues });
  const { journal, resentRows, post } = deps;
  const attempting = { directory, payloads, lanes, journal, resentRows, post, retries, attemptMs, leaseMs, log };
  const known = { queues, gates, bodies, fresh, missingBodies, alarm, deleteUndelivered, disableGone, metrics };
  const sender = stack.use(new Sender({ ...attempting, ...known }));
  stack.use(watchWantedProbes({ states, queues, sender, pollMs, log }));
  stack.use(startClaiming({ lanes, queues, sender, alarm, isPreferredFor, pollMs, overdueMs, log }));
  const { ageMsMax } = retries;
  const ending = { lanes, laneEndings, endpoints, metrics, announceExpiry, isPreferredFor, log };
  stack.use(startEndingOld({ ...ending, ageMsMax, endOldMs }));
  const wantProbe = async ({ tenantId, endpointId }: EndpointKey) => {
    if (await states.wantProbe(tenantId, endpointId)) sender.wantProbe(endpointId);
  };
  const expediteAll = async (endpoint: EndpointKey) => {
    await lanes.expediteEndpoint(endpoint.endpointId, new Date());
    await wantProbe(endpoint);
    wake();
  };
  const takeOver = () => takeOverUntilDone({ queues, lanes, endpoints, announce, wake, log }, signal);
  takeOver();
  return { sender, directory, payloads, leaseMs, deleteUndelivered, announce, wantProbe, expediteAll, takeOver };
}
