import { type AttemptOutcome, type Lane, verdictOf } from "../domain/delivery.ts";
import { type Endpoint, maxInFlightByDefault } from "../domain/endpoint.ts";
import {
  abandonProbe,
  type Admission,
  admit,
  forgetGone,
  type GateChange,
  type GateLimits,
  type GateState,
  type InFlight,
  newGate,
  probeAt,
  settle,
  start,
  wantProbe,
} from "../domain/endpoint-gate.ts";
import { type EndpointPace, isQuick, lanesAhead } from "../domain/lease-ahead.ts";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { AnswerTimes } from "./answer-times.ts";
import type { BodyBudget } from "./body-budget.ts";
import { LanesInHand } from "./lanes-in-hand.ts";

export interface SharedByQueues {
  /** Milliseconds within which leased lanes should start. */
  readonly aheadMs: number;
  readonly bodyBytes: () => number;
  readonly answerTimes: AnswerTimes;
  readonly bodies: BodyBudget;
}

interface StartedLanes {
  readonly lanes: readonly LeasedLane[];
  /** Whether the attempt is a probe; there is only one lane then. */
  readonly isProbe: boolean;
}

interface Claimable {
  /** Latest due time of the lanes; absent for a probe, which also takes a lane in its backoff. */
  readonly dueBy?: Date;
  readonly limit: number;
}

const claimMax = 256;

/** The leased lanes of one endpoint at this process, and the endpoint's gate and capacity. */
export class EndpointQueue {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly #shared: SharedByQueues;
  /** Undefined until the gate in the database, if any, was read; nothing is sent before. */
  #gate: GateState | undefined;
  #limits: GateLimits = { maxInFlight: maxInFlightByDefault };
  #enabledAt: Date | undefined;
  #inFlight = 0;
  #isProbing = false;
  /** Number of lanes that ingest is about to store or a running claim may bring. */
  #reserved = 0;
  #isClaiming = false;
  #hasMoreDue = false;
  /** When an attempt last ended, or started while none was in flight. */
  #movedAt = 0;
  readonly #lanes: LanesInHand;

  constructor({ endpointId, tenantId }: Pick<Lane, "endpointId" | "tenantId">, shared: SharedByQueues) {
    this.endpointId = endpointId;
    this.tenantId = tenantId;
    this.#shared = shared;
    this.#lanes = new LanesInHand(shared.bodies);
  }

  /** Whether the queue has no lanes, and expects none. */
  get isIdle(): boolean {
    return this.#lanes.isEmpty && this.#reserved === 0 && !this.#hasMoreDue && !this.#isClaiming;
  }

  get isGateKnown(): boolean {
    return this.#gate !== undefined;
  }

  get gate(): GateState {
    return this.#gate ?? newGate;
  }

  get readyCount(): number {
    return this.#lanes.readyCount;
  }
  get inFlight(): number {
    return this.#inFlight;
  }

  has(lane: Lane): boolean {
    return this.#lanes.has(lane);
  }

  adopt(gate: GateState): void {
    this.#gate = gate;
  }

  /**
   * When the endpoint was enabled after its breaker opened, the next probe waits for nothing but a
   * `Retry-After`, because the receiver may be repaired.
   */
  applySettings({ maxInFlight, ratePerSecond, enabledAt }: QueueSettings, now: number): void {
    this.#limits = ratePerSecond === undefined ? { maxInFlight } : { maxInFlight, ratePerSecond };
    if (enabledAt === undefined || enabledAt.getTime() === this.#enabledAt?.getTime()) return;
    this.#enabledAt = enabledAt;
    if ((this.#gate?.open?.since ?? Number.POSITIVE_INFINITY) < enabledAt.getTime()) this.wantProbe(now);
  }

  /** Lets the next probe of an open breaker wait for nothing but a `Retry-After`. */
  wantProbe(now: number): void {
    if (this.#gate && !this.#isProbing) this.#gate = wantProbe(this.#gate, now);
  }

  /** When the next probe is due; undefined while the breaker is closed or a probe is in flight. */
  probeAt(): number | undefined {
    return probeAt(this.gate, this.#flight);
  }

  /**
   * Whether the endpoint gets only probes, because its breaker is open, or nothing, because its
   * `Retry-After` lasts or its gate is not known.
   */
  isShut(now: number): boolean {
    const { open, pausedUntil = 0 } = this.gate;
    return !this.isGateKnown || open !== undefined || now < pausedUntil;
  }

  /** Most lanes that this process leases at once, besides that of a probe; 0 while shut. */
  depth(now: number): number {
    return this.isShut(now) ? 0 : lanesAhead(this.#pace);
  }

  capacity(now: number): number {
    return Math.max(0, this.depth(now) - this.#lanes.readyCount - this.#inFlight - this.#reserved);
  }

  /**
   * Whether ingest should wait for the endpoint, because it will soon have capacity for a batch.
   */
  isQuick(now: number): boolean {
    return !this.isShut(now) && isQuick(this.#pace, this.#inFlight === 0 ? 0 : now - this.#movedAt);
  }

  /** Reserves capacity for lanes that are about to be leased. @returns for how many */
  reserve(count: number, now: number): number {
    const granted = Math.min(count, this.capacity(now));
    this.#reserved += granted;
    return granted;
  }

  unreserve(count: number): void {
    this.#reserved -= count;
  }

  /** Whether more lanes are due in the database, and enough capacity is free to claim them. */
  wantsMore(now: number): boolean {
    const depth = this.depth(now);
    return this.#hasMoreDue && depth > 0 && this.capacity(now) >= Math.min(claimMax, depth / 2);
  }

  /** Notes that more lanes may be due in the database than were taken. */
  noteMoreDue(): void {
    this.#hasMoreDue = true;
  }

  /** Forgets that more lanes are due: those of a disabled or deleted endpoint are not claimed. */
  noteDisabled(): void {
    this.#hasMoreDue = false;
  }

  /**
   * Begins a claim of at most `most` lanes. A probe may take a lane that waits for its backoff. If
   * the probe fails, the lane waits for a whole backoff again, so the next probe mostly takes
   * another lane. Call `endClaim` afterwards.
   *
   * @returns what may be claimed; undefined when nothing may be, or when another claim is running
   */
  beginClaim(dueBy: Date, now: number, most = claimMax): Claimable | undefined {
    if (this.#isClaiming) return undefined;
    const claimable = this.#claimable(dueBy, now, most);
    if (!claimable) return undefined;
    this.#isClaiming = true;
    this.#reserved += claimable.limit;
    return claimable;
  }

  #claimable(dueBy: Date, now: number, most: number): Claimable | undefined {
    const { kind } = this.#admission(now);
    if (kind === "probe") {
      // For another replica's tenant `dueBy` is earlier, so a probe that has just become due is
      // left to that replica. While a leased lane waits, that lane is probed, and nothing claimed.
      const isOurs = (this.probeAt() ?? 0) <= dueBy.getTime();
      return isOurs && this.#lanes.readyCount === 0 ? { limit: 1 } : undefined;
    }
    const limit = Math.min(most, this.capacity(now));
    if (limit > 0) return { dueBy, limit };
    this.#hasMoreDue = true;
    return undefined;
  }

  /** @param count number of claimed lanes; absent when the claim has failed */
  endClaim({ dueBy, limit }: Claimable, count?: number): void {
    this.#isClaiming = false;
    this.#reserved -= limit;
    if (count !== undefined) this.#hasMoreDue = dueBy !== undefined && count === limit;
  }

  /** Adds a leased lane. @returns false when its body does not fit; release the lease then */
  push(lane: LeasedLane): boolean {
    return this.#lanes.push(lane);
  }

  /**
   * When the gate next admits an attempt; undefined if it admits one now, or the time is unknown.
   */
  opensAt(now: number): number | undefined {
    const admission = this.#admission(now);
    return admission.kind === "none" ? admission.until : undefined;
  }

  /** How many of the waiting lanes the gate admits now. */
  startable(now: number): number {
    const admission = this.#admission(now);
    if (admission.kind === "none") return 0;
    return Math.min(this.#lanes.readyCount, admission.kind === "probe" ? 1 : admission.count);
  }

  /** Takes out lanes whose attempts start now: as many as the gate admits, at most `slots`. */
  start(slots: number, now: number): StartedLanes {
    const isProbe = this.#admission(now).kind === "probe";
    const lanes = this.#lanes.start(Math.min(slots, this.startable(now)));
    if (lanes.length === 0) return { lanes, isProbe: false };
    this.#gate = start(this.gate, this.#limits, lanes.length, now);
    this.#isProbing ||= isProbe;
    if (this.#inFlight === 0) this.#movedAt = now;
    this.#inFlight += lanes.length;
    return { lanes, isProbe };
  }

  /** Notes that a started attempt was not made, which says nothing about the receiver. */
  noteNotMade(isProbe: boolean, now: number): void {
    this.#inFlight -= 1;
    if (!isProbe) return;
    this.#isProbing = false;
    this.#gate = abandonProbe(this.gate, now);
  }

  /** Notes the end of an attempt, with or without an answer. @returns the event that it caused */
  noteAnswer(lane: Lane, outcome: AttemptOutcome, isProbe: boolean, now: number): GateChange["event"] {
    this.#inFlight -= 1;
    if (isProbe) this.#isProbing = false;
    this.#shared.answerTimes.note(this.endpointId, outcome.tookMs);
    this.#movedAt = now;
    const result = outcome.status === 410 ? ("gone" as const) : verdictOf(outcome);
    const answer = { lane: lane.documentId, result, probe: isProbe, retryAfterMs: outcome.retryAfterMs };
    const { state, event } = settle(forgetGone(this.gate, this.#enabledAt), this.#limits, answer, now, Math.random());
    this.#gate = state;
    return event;
  }

  /** Takes out all waiting lanes, whose leases go on until the caller releases them. */
  drain(): LeasedLane[] {
    return this.#lanes.takeOut(0);
  }

  /**
   * Takes out all but the first `depth` lanes when more than twice as many wait, because the
   * endpoint has become slower or is shut.
   */
  takeSurplus(now: number): LeasedLane[] {
    const depth = this.depth(now);
    if (this.readyCount <= 2 * depth) return [];
    this.#hasMoreDue = true;
    return this.#lanes.takeOut(depth);
  }

  /** Removes a lane that this process is done with, and frees its body's memory. */
  release(lane: LeasedLane): void {
    this.#lanes.release(lane);
  }

  #admission(now: number): Admission {
    return this.#gate ? admit(this.#gate, this.#limits, this.#flight, now) : { kind: "none" };
  }

  get #flight(): InFlight {
    return { attempts: this.#inFlight, isProbing: this.#isProbing };
  }

  get #pace(): EndpointPace {
    const { maxInFlight, ratePerSecond } = this.#limits;
    const slots = Math.min(maxInFlight, this.gate.ramp ?? maxInFlight, Math.max(1, ratePerSecond ?? maxInFlight));
    const { aheadMs, bodyBytes, answerTimes } = this.#shared;
    return { slots, ratePerSecond, aheadMs, answerMs: answerTimes.of(this.endpointId), bodyBytes: bodyBytes() };
  }
}

type QueueSettings = Pick<Endpoint, "maxInFlight" | "ratePerSecond" | "enabledAt">;
