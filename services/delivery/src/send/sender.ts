import { createBatcher } from "@vidimus/kit/queues/batcher";
import { Holdings } from "@vidimus/kit/queues/holdings";
import { type AttemptOutcome, type Lane, verdictOf } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import {
  abandonProbe,
  type GateChange,
  isBlank,
  isNews,
  isTrouble,
  newGate,
  settle,
  wantProbe,
} from "../domain/endpoint-gate.ts";
import { type Payload, webhookIdOf } from "../domain/payload.ts";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointState, EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { Journaled, LaneJournal, LaneRecord } from "../store/lane-journal.ts";
import type { LaneStore } from "../store/lane-store.ts";
import { Alarm } from "./alarm.ts";
import {
  type AttemptDeps,
  journalAttempt,
  postAttempt,
  type Prepared,
  prepareAttempt,
  untilEnded,
} from "./attempt-lane.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";
import { EndpointLanes, rowOf } from "./endpoint-lanes.ts";
import { logAttempt } from "./log-attempt.ts";
import type { PayloadCache } from "./payload-cache.ts";

export interface SenderDeps extends Omit<AttemptDeps, "record"> {
  readonly directory: Pick<EndpointDirectory, "find" | "put">;
  readonly payloads: Pick<PayloadCache, "get" | "put">;
  readonly lanes: AttemptDeps["lanes"] & Pick<LaneStore, "release" | "releaseBacklog">;
  readonly journal: Pick<LaneJournal, "record" | "noteAccepted">;
  readonly deliveries: Pick<DeliveryStore, "deletePending">;
  readonly states: Pick<EndpointStateStore, "put" | "delete">;
  /** Holds an endpoint's deliveries, if it is still disabled. */
  readonly hold: (endpoint: Pick<Endpoint, "tenantId" | "endpointId">) => Promise<void>;
  /** Disables an endpoint that answered 410 twice. */
  readonly disableGone: (endpoint: Pick<Endpoint, "tenantId" | "endpointId">) => Promise<void>;
  /** Tells other endpoints that the breaker of this one, open since then, has closed. */
  readonly announceClosed: (endpoint: Pick<Endpoint, "tenantId" | "endpointId">, since: Date) => Promise<void>;
  readonly metrics: DeliveryMetrics;
}

/** Most attempts in flight, of one tenant and of all: so that none takes the sockets of another. */
const inFlightMax = { tenant: 512, all: 1_024 };
/** How soon a lane is tried again whose body could not be had. */
const unavailableMs = 5_000;

/** Attempts the lanes that it is given, as fast as each endpoint's gate admits. */
export class Sender implements AsyncDisposable {
  readonly alarm = new Alarm();
  /** Called when an endpoint has capacity again and more is due in the database. */
  onCapacity: (lanes: EndpointLanes) => void = () => this.wake();
  readonly #deps: SenderDeps;
  readonly #attempts: AttemptDeps;
  readonly #endpoints = new Map<string, EndpointLanes>();
  readonly #inFlight = new Holdings();
  readonly #running = new Set<Promise<void>>();
  /** Endpoints with lanes that wait for a place of their tenant, or of all. */
  readonly #starved = new Set<EndpointLanes>();
  #isStopping = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    const record = createBatcher<LaneRecord, Journaled>({
      itemsMax: 256,
      // While one batch is journaled, the next one is.
      inFlightMax: 2,
      run: (records) => deps.journal.record(records),
    });
    this.#attempts = { ...deps, record };
  }

  /** The lanes of an endpoint, made when they are asked for. */
  lanesOf(endpoint: Pick<Lane, "endpointId" | "tenantId">): EndpointLanes {
    const known = this.#endpoints.get(endpoint.endpointId);
    if (known) return known;
    const lanes = new EndpointLanes(endpoint);
    this.#endpoints.set(endpoint.endpointId, lanes);
    return lanes;
  }

  /** Endpoints with anything in hand, or in trouble. */
  get endpoints(): Iterable<EndpointLanes> {
    return this.#endpoints.values();
  }

  capacityOf(endpoint: Endpoint): number {
    const lanes = this.lanesOf(endpoint);
    lanes.applyLimits(endpoint);
    return this.capacity(lanes);
  }

  capacity(lanes: EndpointLanes): number {
    return this.#isStopping ? 0 : lanes.capacity(Date.now());
  }

  isInHand(lane: Lane): boolean {
    return this.#endpoints.get(lane.endpointId)?.has(lane) ?? false;
  }

  wake(): void {
    this.alarm.ring();
  }

  /** Brings the next probe of an open breaker forward. */
  wantProbe(endpointId: string): void {
    const lanes = this.#endpoints.get(endpointId);
    if (lanes) lanes.gate = wantProbe(lanes.gate, Date.now());
    this.wake();
  }

  /** Takes over what other replicas have learned about endpoints. */
  adopt(states: readonly EndpointState[]): void {
    for (const { gate, ...endpoint } of states) {
      const lanes = this.lanesOf(endpoint);
      if (lanes.isIdle) lanes.gate = gate;
    }
  }

  take(lanes: readonly LeasedLane[], payloads: readonly Payload[], endpoints: readonly Endpoint[]): void {
    for (const endpoint of endpoints) this.#deps.directory.put(endpoint);
    const byWebhook = new Map(payloads.map((payload) => [payload.webhookId, payload]));
    const touched = new Set<EndpointLanes>();
    for (const lane of lanes) {
      for (const row of lane.state.rows) {
        const payload = byWebhook.get(webhookIdOf(row));
        if (payload) this.#deps.payloads.put(row, payload);
      }
      const row = rowOf(lane);
      if (!row) continue;
      const own = this.lanesOf(row);
      own.push(lane);
      touched.add(own);
    }
    for (const own of touched) this.pump(own);
  }

  /** Starts what an endpoint's gate admits. */
  pump(lanes: EndpointLanes): void {
    while (lanes.readyCount > 0 && !this.#isStopping) {
      const now = Date.now();
      const admission = lanes.admission(now);
      if (admission.kind === "none") {
        if (admission.until === undefined) return;
        if (lanes.capacity(now) === 0 && lanes.inFlight === 0) this.#releaseReady(lanes);
        else setTimeout(() => this.pump(lanes), admission.until - now).unref();
        this.alarm.ringAt(admission.until);
        return;
      }
      const places = this.#placesOf(lanes.tenantId);
      const count = admission.kind === "probe" ? 1 : Math.min(admission.count, places);
      if (count === 0) {
        this.#starved.add(lanes);
        return;
      }
      for (const lane of lanes.start(count, now)) this.#run(lanes, lane, admission.kind === "probe");
    }
  }

  #placesOf(tenantId: string): number {
    return Math.min(inFlightMax.tenant - this.#inFlight.of(tenantId), inFlightMax.all - this.#inFlight.total);
  }

  #run(lanes: EndpointLanes, lane: LeasedLane, isProbe: boolean): void {
    this.#inFlight.add(lanes.tenantId, 1);
    const run = this.#attempt(lanes, lane, isProbe).catch((error: unknown) => {
      this.#deps.log.error({ err: error, endpointId: lanes.endpointId }, "lane waits for the end of its lease");
    });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #attempt(lanes: EndpointLanes, lane: LeasedLane, isProbe: boolean): Promise<void> {
    const prepared = await prepareAttempt(this.#attempts, lane).catch((error: unknown): Prepared => {
      this.#deps.log.warn({ err: error, endpointId: lanes.endpointId }, "attempt not made");
      return { kind: "unavailable" };
    });
    if (prepared.kind !== "ready") {
      if (isProbe) lanes.gate = abandonProbe(lanes.gate, Date.now());
      this.#freePlace(lanes);
      await this.#giveUp(lanes, lane, prepared.kind);
      lanes.letGo(lane);
      return this.#forgetIdle(lanes);
    }
    lanes.applyLimits(prepared.endpoint);
    const outcome = await postAttempt(this.#deps, prepared);
    const event = this.#settleGate(lanes, prepared.row, outcome, isProbe);
    // The place is free at the answer; the record is written beside the next attempt.
    this.#freePlace(lanes);
    const mayGoOn = () => this.capacity(lanes) > 0 && this.#endpoints.get(lanes.endpointId) === lanes;
    const journaled = await journalAttempt(this.#attempts, prepared, outcome, { isProbe, mayGoOn });
    logAttempt(this.#deps.log, prepared, outcome, journaled);
    this.#deps.metrics.observe(prepared, outcome, journaled.step);
    lanes.letGo(prepared.lane);
    if (journaled.lane) lanes.push(journaled.lane);
    else if (journaled.step.next !== "empty") this.alarm.ringAt(journaled.step.lane.dueAt.getTime());
    await this.#react(lanes, event);
    this.pump(lanes);
    this.#forgetIdle(lanes);
  }

  #freePlace(lanes: EndpointLanes): void {
    this.#inFlight.add(lanes.tenantId, -1);
    lanes.inFlight -= 1;
    // The endpoint that has waited longest for a place of its tenant comes first.
    const [longest] = this.#starved;
    if (longest) {
      this.#starved.delete(longest);
      this.pump(longest);
    }
    this.pump(lanes);
    if (lanes.hasMoreDue && lanes.readyCount < lanes.limits.maxInFlight / 2) this.onCapacity(lanes);
  }

  async #giveUp(lanes: EndpointLanes, lane: LeasedLane, kind: Exclude<Prepared["kind"], "ready">): Promise<void> {
    const { tenantId, endpointId } = lanes;
    if (kind === "gone") await this.#deps.deliveries.deletePending(tenantId, endpointId);
    if (kind === "held") await this.#deps.hold({ tenantId, endpointId });
    const row = rowOf(lane);
    if (kind === "outrun" && row) await this.#deps.lanes.appointBearers([row], new Date());
    if (kind === "unavailable") await this.#deps.lanes.release([lane], new Date(Date.now() + unavailableMs));
  }

  #settleGate(lanes: EndpointLanes, lane: Lane, outcome: AttemptOutcome, probe: boolean): GateChange["event"] {
    const verdict = verdictOf(outcome);
    const result = outcome.status === 410 ? ("gone" as const) : verdict;
    const { retryAfterMs } = outcome;
    const answer = { lane: lane.documentId, result, probe, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    const before = lanes.gate;
    const { state, event } = settle(before, lanes.limits, answer, Date.now(), Math.random());
    lanes.gate = state;
    if (isNews(before, state)) void this.#keepState(lanes, event === "recovered" ? before.open?.since : undefined);
    return event;
  }

  /**
   * Stores what another replica must know when it takes the endpoint over.
   *
   * @param openSince of a breaker that has closed now
   */
  async #keepState(lanes: EndpointLanes, openSince?: number): Promise<void> {
    const { endpointId, tenantId } = lanes;
    try {
      if (openSince !== undefined) await this.#deps.announceClosed({ endpointId, tenantId }, new Date(openSince));
      const { gate } = lanes;
      if (isTrouble(gate, Date.now())) await this.#deps.states.put({ endpointId, tenantId, gate });
      else await this.#deps.states.delete(endpointId);
    } catch (error) {
      this.#deps.log.warn({ err: error, endpointId }, "state of an endpoint not stored");
    }
  }

  async #react(lanes: EndpointLanes, event: GateChange["event"]): Promise<void> {
    if (!event) return;
    const { endpointId, tenantId } = lanes;
    this.#deps.log.warn({ endpointId, tenant: tenantId }, `breaker: ${event}`);
    if (event === "opened") this.#releaseReady(lanes);
    if (event === "gone") {
      await this.#deps.disableGone({ tenantId, endpointId });
      await this.#deps.hold({ tenantId, endpointId });
      lanes.gate = newGate;
      await this.#keepState(lanes);
    }
    if (event === "recovered") {
      await this.#deps.lanes.releaseBacklog(endpointId, new Date());
      this.wake();
    }
  }

  /** Gives back what waits for its turn. */
  #releaseReady(lanes: EndpointLanes): void {
    const drained = lanes.drain();
    if (drained.length === 0) return;
    const run = this.#deps.lanes.release(drained, new Date()).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, endpointId: lanes.endpointId }, "lanes wait for the end of their leases");
    });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  #forgetIdle(lanes: EndpointLanes): void {
    if (lanes.isIdle && isBlank(lanes.gate, Date.now())) this.#endpoints.delete(lanes.endpointId);
  }

  /** Gives back what waits for its turn, lets attempts under way end, and journals them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    for (const lanes of this.#endpoints.values()) this.#releaseReady(lanes);
    await untilEnded(this.#running, this.#deps.leaseMs);
  }
}
