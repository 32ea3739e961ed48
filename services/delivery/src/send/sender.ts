import { createBatcher } from "@vidimus/kit/queues/batcher";
import { Holdings } from "@vidimus/kit/queues/holdings";
import type { Lane } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { abandonProbe, type GateChange, isBlank, newGate, probeAt, wantProbe } from "../domain/endpoint-gate.ts";
import { aheadMsOf } from "../domain/lease-ahead.ts";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointState } from "../store/endpoint-state-store.ts";
import type { Journaled, LaneJournal } from "../store/lane-journal.ts";
import type { LaneRecord } from "../store/lane-records.ts";
import type { LaneStore } from "../store/lane-store.ts";
import { Alarm } from "./alarm.ts";
import { AnswerTimes } from "./answer-times.ts";
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
import { EndpointLanes, rowOf, type WaitingLanes } from "./endpoint-lanes.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";
import { GateStates, type GateStatesDeps } from "./gate-states.ts";
import { LaneReservations, type Reservation } from "./lane-reservations.ts";
import { logAttempt } from "./log-attempt.ts";
import type { PayloadCache, StoredPayload } from "./payload-cache.ts";

export interface SenderDeps
  extends Omit<AttemptDeps, "record">, GateStatesDeps, Pick<EndpointReactions, "hold" | "disableGone"> {
  readonly directory: Pick<EndpointDirectory, "find" | "put">;
  readonly payloads: PayloadCache;
  readonly lanes: AttemptDeps["lanes"] & Pick<LaneStore, "release" | "releaseBacklog">;
  readonly journal: Pick<LaneJournal, "record" | "noteAccepted">;
  readonly deliveries: Pick<DeliveryStore, "deletePending">;
  readonly metrics: DeliveryMetrics;
}

/** Most attempts in flight, of one tenant and of all: so that none takes the sockets of another. */
const inFlightMax = { tenant: 512, all: 1_024 };
/** Most lanes of a claim. */
export const claimMax = 256;
/** How soon a lane is tried again whose body could not be had. */
const unavailableMs = 5_000;
/** Between two statements that journal the ends of lanes, for which nobody waits. */
const endedSpacingMs = 25;

/** Attempts the lanes that it is given, as fast as each endpoint's gate admits. */
export class Sender implements AsyncDisposable {
  readonly alarm = new Alarm();
  /** Called when an endpoint has capacity again and more is due in the database. */
  onCapacity: (lanes: EndpointLanes) => void = () => this.wake();
  readonly #deps: SenderDeps;
  readonly #attempts: AttemptDeps;
  readonly #gates: GateStates;
  readonly #waiting: WaitingLanes;
  readonly #endpoints = new Map<string, EndpointLanes>();
  readonly #reservations = new LaneReservations();
  readonly #inFlight = new Holdings();
  readonly #running = new Set<Promise<void>>();
  /** Endpoints with lanes that wait for a place of their tenant, or of all. */
  readonly #starved = new Set<EndpointLanes>();
  #isStopping = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    const answerTimes = new AnswerTimes();
    this.#waiting = { aheadMs: aheadMsOf(deps), bodyBytes: deps.payloads.meanBytes, answerTimes };
    this.#gates = new GateStates(deps);
    const record = createBatcher<LaneRecord, Journaled>({
      itemsMax: 256,
      // While one batch is journaled, the next one is.
      inFlightMax: 2,
      laneOf: ({ step }) => (step.next === "empty" ? "ended" : "going on"),
      spacingMsOf: (kind) => (kind === "ended" ? endedSpacingMs : 0),
      run: (records) => deps.journal.record(records),
    });
    this.#attempts = { ...deps, record };
  }

  /** The lanes of an endpoint, made when they are asked for. */
  lanesOf(endpoint: Pick<Lane, "endpointId" | "tenantId">): EndpointLanes {
    const lanes = this.#endpoints.get(endpoint.endpointId) ?? new EndpointLanes(endpoint, this.#waiting);
    this.#endpoints.set(endpoint.endpointId, lanes);
    return lanes;
  }

  /** Endpoints with anything in hand, or in trouble. */
  get endpoints(): Iterable<EndpointLanes> {
    return this.#endpoints.values();
  }

  /**
   * Reserves capacity for lanes that are about to be stored, so many of each endpoint. If it may wait,
   * it waits for endpoints that are quick, half a second at most.
   */
  async reserve(counts: ReadonlyMap<Endpoint, number>, mayWait: boolean): Promise<Reservation> {
    const wanted = Array.from(this.#isStopping ? [] : counts, ([endpoint, count]) => {
      const lanes = this.lanesOf(endpoint);
      lanes.applyLimits(endpoint);
      return { lanes, count };
    });
    return this.#reservations.reserve(wanted, mayWait);
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

  /** When the next probe of an endpoint is due; undefined while its breaker is closed. */
  probeAt(endpointId: string): number | undefined {
    return probeAt(this.#endpoints.get(endpointId)?.gate ?? newGate);
  }

  /** Brings the next probe of an open breaker forward. */
  wantProbe(endpointId: string): void {
    const lanes = this.#endpoints.get(endpointId);
    if (lanes) {
      lanes.gate = wantProbe(lanes.gate, Date.now());
      // A lane that is leased already is not claimed again.
      this.pump(lanes);
    }
    this.wake();
  }

  /** Takes over what other replicas have learned about endpoints. */
  adopt(states: readonly EndpointState[]): void {
    for (const { gate, ...endpoint } of states) {
      const lanes = this.lanesOf(endpoint);
      if (lanes.isIdle) lanes.gate = gate;
    }
  }

  take(lanes: readonly LeasedLane[], payloads: readonly StoredPayload[], endpoints: readonly Endpoint[]): void {
    for (const endpoint of endpoints) this.#deps.directory.put(endpoint);
    for (const payload of payloads) this.#deps.payloads.put(payload);
    const rows = lanes.flatMap((lane) => rowOf(lane) ?? []);
    this.#deps.payloads.prefetch(rows.filter(({ notice }) => !notice));
    for (const lane of lanes) {
      const row = rowOf(lane);
      if (row) this.lanesOf(row).push(lane);
    }
    for (const own of new Set(rows.map((row) => this.lanesOf(row)))) this.pump(own);
  }

  /** Starts what an endpoint's gate admits. */
  pump(lanes: EndpointLanes): void {
    while (lanes.readyCount > 0 && !this.#isStopping) {
      const now = Date.now();
      const admission = lanes.admission(now);
      if (admission.kind === "none") {
        if (admission.until === undefined) return;
        if (lanes.isShut(now) && lanes.inFlight === 0) this.#release(lanes, lanes.drain());
        else setTimeout(() => this.pump(lanes), admission.until - now).unref();
        this.alarm.ringAt(admission.until);
        return;
      }
      const ownPlaces = inFlightMax.tenant - this.#inFlight.of(lanes.tenantId);
      const places = Math.min(ownPlaces, inFlightMax.all - this.#inFlight.total);
      const count = admission.kind === "probe" ? 1 : Math.min(admission.count, places);
      if (count === 0) {
        this.#starved.add(lanes);
        return;
      }
      for (const lane of lanes.start(count, now)) this.#run(lanes, lane, admission.kind === "probe");
    }
  }

  #run(lanes: EndpointLanes, lane: LeasedLane, isProbe: boolean): void {
    this.#inFlight.add(lanes.tenantId, 1);
    const run = this.#attempt(lanes, lane, isProbe).catch((error: unknown) => {
      this.#deps.log.error({ err: error, endpointId: lanes.endpointId }, "lane waits for the end of its lease");
      lanes.letGo(lane);
    });
    this.#keep(run);
  }

  #keep(run: Promise<void>): void {
    const kept = run.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
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
    lanes.noteAnswer(outcome.tookMs, Date.now());
    const event = this.#gates.settle(lanes, prepared.row, outcome, isProbe);
    // The place is free at the answer; the record is written beside the next attempt.
    this.#freePlace(lanes);
    const mayGoOn = () => this.#mayGoOn(lanes);
    const journaled = await journalAttempt(this.#attempts, prepared, outcome, { isProbe, mayGoOn });
    logAttempt(this.#deps.log, prepared, outcome, journaled);
    this.#deps.metrics.observe(prepared, outcome, journaled.step);
    if (!journaled.isLost) for (const { row } of journaled.step.ended) this.#deps.payloads.noteEnded(row);
    lanes.letGo(prepared.lane);
    if (journaled.lane) lanes.push(journaled.lane);
    else if (journaled.step.next !== "empty") this.alarm.ringAt(journaled.step.lane.dueAt.getTime());
    if (event) await this.#react(lanes, event);
    this.pump(lanes);
    this.#forgetIdle(lanes);
  }

  /** Whether a lane may be sent again without a claim. It then waits behind the other lanes. */
  #mayGoOn(lanes: EndpointLanes): boolean {
    return !this.#isStopping && !lanes.isShut(Date.now()) && this.#endpoints.get(lanes.endpointId) === lanes;
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
    const now = Date.now();
    const surplus = lanes.takeSurplus(now);
    if (surplus.length > 0) lanes.hasMoreDue = true;
    this.#release(lanes, surplus);
    // What is due comes before what ingest is about to store.
    if (lanes.hasMoreDue && lanes.capacity(now) >= Math.min(claimMax, lanes.depth(now) / 2)) this.onCapacity(lanes);
    this.#reservations.noteRoom();
  }

  async #giveUp(lanes: EndpointLanes, lane: LeasedLane, kind: Exclude<Prepared["kind"], "ready">): Promise<void> {
    const { tenantId, endpointId } = lanes;
    if (kind === "gone") await this.#deps.deliveries.deletePending(tenantId, endpointId);
    if (kind === "held") await this.#deps.hold({ tenantId, endpointId });
    const row = rowOf(lane);
    if (kind === "outrun" && row) await this.#deps.lanes.appointBearers([row], new Date());
    if (kind === "unavailable") await this.#deps.lanes.release([lane], new Date(Date.now() + unavailableMs));
  }

  async #react(lanes: EndpointLanes, event: NonNullable<GateChange["event"]>): Promise<void> {
    const { endpointId, tenantId } = lanes;
    this.#deps.log.warn({ endpointId, tenant: tenantId }, `breaker: ${event}`);
    if (event === "opened") this.#release(lanes, lanes.drain());
    if (event === "gone") {
      await this.#deps.disableGone({ tenantId, endpointId });
      await this.#deps.hold({ tenantId, endpointId });
      lanes.gate = newGate;
      await this.#gates.keep(lanes);
    }
    if (event === "recovered") {
      await this.#deps.lanes.releaseBacklog(endpointId, new Date());
      this.wake();
    }
  }

  /** Gives back lanes that waited for their turn. They are due at once. */
  #release(lanes: EndpointLanes, waiting: readonly LeasedLane[]): void {
    if (waiting.length === 0) return;
    const run = this.#deps.lanes.release(waiting, new Date()).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, endpointId: lanes.endpointId }, "lanes wait for the end of their leases");
    });
    this.#keep(run);
  }

  #forgetIdle(lanes: EndpointLanes): void {
    if (lanes.isIdle && isBlank(lanes.gate, Date.now())) this.#endpoints.delete(lanes.endpointId);
  }

  /** Gives back what waits for its turn, lets attempts under way end, and journals them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#reservations.end();
    for (const lanes of this.#endpoints.values()) this.#release(lanes, lanes.drain());
    await untilEnded(this.#running, this.#deps.leaseMs);
  }
}
