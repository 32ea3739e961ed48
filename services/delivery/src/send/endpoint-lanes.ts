import { type Lane, laneKey } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { maxInFlightByDefault } from "../domain/endpoint.ts";
import { type Admission, admit, type GateLimits, type GateState, newGate, start } from "../domain/endpoint-gate.ts";
import { subjectOf } from "../domain/lane.ts";
import type { LeasedLane, SendableRow } from "../store/delivery-rows.ts";

/** How many lanes are leased for each attempt that may be in flight, so that no place stays empty. */
const lanesPerPlace = 2;

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
  /** Leased lanes that wait for their turn, in the order they came. */
  readonly #ready: LeasedLane[] = [];
  /** Lanes that wait, are in flight or are being journaled. */
  readonly #inHand = new Set<string>();

  constructor({ endpointId, tenantId }: Pick<Lane, "endpointId" | "tenantId">) {
    this.endpointId = endpointId;
    this.tenantId = tenantId;
  }

  get isIdle(): boolean {
    return this.#inHand.size === 0 && !this.hasMoreDue && !this.isClaiming;
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  has(lane: Lane): boolean {
    return this.#inHand.has(laneKey(lane));
  }

  /** How many more lanes may be leased. None while the endpoint gets none but probes. */
  capacity(now: number): number {
    const { open, pausedUntil = 0, ramp = Number.POSITIVE_INFINITY } = this.gate;
    if (open || now < pausedUntil) return 0;
    const places = Math.min(this.limits.maxInFlight, ramp, Math.max(1, this.limits.ratePerSecond ?? ramp));
    return Math.max(0, lanesPerPlace * places - this.#ready.length - this.inFlight);
  }

  applyLimits({ maxInFlight, ratePerSecond }: Pick<Endpoint, "maxInFlight" | "ratePerSecond">): void {
    this.limits = ratePerSecond === undefined ? { maxInFlight } : { maxInFlight, ratePerSecond };
  }

  push(lane: LeasedLane): void {
    const subject = rowOf(lane);
    if (!subject) return;
    this.#inHand.add(laneKey(subject));
    this.#ready.push(lane);
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
    this.inFlight += started.length;
    return started;
  }

  /** Takes out all lanes that wait. */
  drain(): LeasedLane[] {
    const drained = this.#ready.splice(0);
    for (const lane of drained) this.letGo(lane);
    return drained;
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
