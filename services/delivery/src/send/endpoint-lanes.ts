import { type Lane, laneKey } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { maxInFlightByDefault } from "../domain/endpoint.ts";
import { type Admission, admit, type GateLimits, type GateState, newGate, start } from "../domain/endpoint-gate.ts";
import { subjectOf } from "../domain/lane.ts";
import { type EndpointPace, isQuick, lanesAhead } from "../domain/lease-ahead.ts";
import type { LeasedLane, SendableRow } from "../store/delivery-rows.ts";
import type { AnswerTimes } from "./answer-times.ts";

/** What is known of lanes that wait, of all endpoints. */
export interface WaitingLanes {
  /** How soon they are to start. */
  readonly aheadMs: number;
  /** Mean size of their bodies. */
  readonly bodyBytes: () => number;
  readonly answerTimes: AnswerTimes;
}

/** What this process has in hand for one endpoint. */
export class EndpointLanes {
  readonly endpointId: string;
  readonly tenantId: string;
  gate: GateState = newGate;
  limits: GateLimits = { maxInFlight: maxInFlightByDefault };
  /** Whether more may be due in the database than there was capacity for. */
  hasMoreDue = false;
  /** A claim is under way. */
  isClaiming = false;
  inFlight = 0;
  /** Lanes that ingest is about to store. */
  reserved = 0;
  /** When an attempt last ended, or started with no other one in flight. */
  #movedAt = 0;
  readonly #waiting: WaitingLanes;
  /** Leased lanes that wait for their turn, in the order they came. */
  readonly #ready: LeasedLane[] = [];
  /** Lanes that wait, are in flight or are being journaled. */
  readonly #inHand = new Map<string, LeasedLane>();

  constructor({ endpointId, tenantId }: Pick<Lane, "endpointId" | "tenantId">, waiting: WaitingLanes) {
    this.endpointId = endpointId;
    this.tenantId = tenantId;
    this.#waiting = waiting;
  }

  get isIdle(): boolean {
    return this.#inHand.size === 0 && this.reserved === 0 && !this.hasMoreDue && !this.isClaiming;
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  has(lane: Lane): boolean {
    return this.#inHand.has(laneKey(lane));
  }

  /** Whether the endpoint gets nothing but probes, or nothing before a time that it named. */
  isShut(now: number): boolean {
    const { open, pausedUntil = 0 } = this.gate;
    return open !== undefined || now < pausedUntil;
  }

  /** How many lanes may be leased in all. */
  depth(now: number): number {
    return this.isShut(now) ? 0 : lanesAhead(this.#pace);
  }

  /** How many more lanes may be leased. */
  capacity(now: number): number {
    return Math.max(0, this.depth(now) - this.#ready.length - this.inFlight - this.reserved);
  }

  /** Whether it has room for more within a second. */
  isQuick(now: number): boolean {
    return !this.isShut(now) && isQuick(this.#pace, this.inFlight === 0 ? 0 : now - this.#movedAt);
  }

  get #pace(): EndpointPace {
    const { maxInFlight, ratePerSecond } = this.limits;
    const places = Math.min(maxInFlight, this.gate.ramp ?? maxInFlight, Math.max(1, ratePerSecond ?? maxInFlight));
    const { aheadMs, bodyBytes, answerTimes } = this.#waiting;
    const answerMs = answerTimes.of(this.endpointId);
    return { places, ratePerSecond, answerMs, aheadMs, bodyBytes: bodyBytes() };
  }

  applyLimits({ maxInFlight, ratePerSecond }: Pick<Endpoint, "maxInFlight" | "ratePerSecond">): void {
    this.limits = ratePerSecond === undefined ? { maxInFlight } : { maxInFlight, ratePerSecond };
  }

  /** Notes how long an attempt took. */
  noteAnswer(tookMs: number, now: number): void {
    this.#waiting.answerTimes.note(this.endpointId, tookMs);
    this.#movedAt = now;
  }

  /**
   * Adds a lane that was leased. When this process has lost an earlier lease of it and claimed it
   * again, the new lease takes the place of the old one; while an attempt is under way, the lane waits
   * for the end of the new lease, so that no webhook is sent beside itself.
   */
  push(lane: LeasedLane): void {
    const subject = rowOf(lane);
    if (!subject) return;
    const key = laneKey(subject);
    const earlier = this.#inHand.get(key);
    const at = earlier ? this.#ready.indexOf(earlier) : this.#ready.length;
    if (at === -1) return;
    this.#inHand.set(key, lane);
    this.#ready[at] = lane;
  }

  /** What may start now. */
  admission(now: number): Admission {
    return admit(this.gate, this.limits, this.inFlight, now);
  }

  /** Takes lanes out whose attempts start now. */
  start(count: number, now: number): LeasedLane[] {
    const started = this.#ready.splice(0, count);
    if (started.length === 0) return started;
    this.gate = start(this.gate, this.limits, started.length, now);
    if (this.inFlight === 0) this.#movedAt = now;
    this.inFlight += started.length;
    return started;
  }

  /** Takes out all lanes that wait. */
  drain(): LeasedLane[] {
    return this.#takeOut(0);
  }

  /** Takes out the lanes that came last and would wait too long: the endpoint has become slower. */
  takeSurplus(now: number): LeasedLane[] {
    const depth = this.depth(now);
    return this.#ready.length > 2 * depth ? this.#takeOut(depth) : [];
  }

  #takeOut(from: number): LeasedLane[] {
    const taken = this.#ready.splice(from);
    for (const lane of taken) this.letGo(lane);
    return taken;
  }

  /** Forgets a lane. */
  letGo(lane: LeasedLane): void {
    const row = rowOf(lane);
    if (row) this.#inHand.delete(laneKey(row));
  }
}

/** The row that a lane sends next. */
export function rowOf({ state }: LeasedLane): SendableRow | undefined {
  return subjectOf(state);
}
