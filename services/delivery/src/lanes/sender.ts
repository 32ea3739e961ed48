import type { Lane } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { type GateChange, isNews, newGate } from "../domain/endpoint-gate.ts";
import type { LeasedLane } from "../store/delivery-rows.ts";
import type { LaneJournal } from "../store/lane-journal.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { Alarm } from "./alarm.ts";
import {
  type AttemptDeps,
  journalAttempt,
  postAttempt,
  type Prepared,
  prepareAttempt,
  type ReadyAttempt,
  untilEnded,
} from "./attempt-lane.ts";
import { AttemptSlots } from "./attempt-slots.ts";
import type { BodyBudget } from "./body-budget.ts";
import { claimLanes } from "./claim-lanes.ts";
import type { DeleteUndelivered } from "./delete-undelivered.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { EndpointQueues } from "./endpoint-queues.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";
import type { FreshTenants } from "./fresh-tenants.ts";
import { returnLane } from "./return-lane.ts";
import { rowOf } from "./lanes-in-hand.ts";
import type { MissingBodies } from "./missing-bodies.ts";
import { createRecorder } from "./lane-recorder.ts";
import { LaneReservations, type Reservation } from "./lane-reservations.ts";
import { logAttempt } from "./log-attempt.ts";
import type { PayloadCache, StoredPayload } from "./payload-cache.ts";
import type { StoredGates } from "./stored-gates.ts";

interface SenderDeps extends Omit<AttemptDeps, "record"> {
  readonly queues: EndpointQueues;
  readonly gates: Pick<StoredGates, "refresh" | "keep">;
  readonly bodies: BodyBudget;
  readonly fresh: Pick<FreshTenants, "hasOthers">;
  readonly missingBodies: MissingBodies;
  /** Wakes the search for due lanes in the database. */
  readonly alarm: Pick<Alarm, "ring" | "ringAt">;
  readonly payloads: PayloadCache;
  readonly lanes: AttemptDeps["lanes"] & Pick<LaneStore, "claim" | "release" | "expediteEndpoint">;
  readonly journal: Pick<LaneJournal, "record" | "noteAccepted">;
  readonly deleteUndelivered: DeleteUndelivered;
  readonly disableGone: EndpointReactions["disableGone"];
  readonly metrics: DeliveryMetrics;
}

/** Claims lanes and attempts them, as fast as each endpoint's gate admits. */
export class Sender implements AsyncDisposable {
  readonly #deps: SenderDeps;
  readonly #attempts: AttemptDeps;
  readonly #reservations: LaneReservations;
  readonly #slots = new AttemptSlots();
  readonly #running = new Set<Promise<void>>();
  /** Queues with lanes due in the database for whose bodies there was no free memory. */
  readonly #withoutCapacity = new Set<EndpointQueue>();
  /** Queues whose claim is under way, which may not have reserved its capacity yet. */
  readonly #claiming = new Set<EndpointQueue>();
  #isStopping = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#reservations = new LaneReservations(deps.bodies);
    this.#attempts = { ...deps, record: createRecorder(deps.journal) };
  }

  /**
   * Reserves capacity for lanes that are about to be stored, by endpoint. With `mayWait` it waits
   * up to half a second until each quick endpoint has capacity for its lanes, or all it can have.
   */
  async reserve(counts: ReadonlyMap<Endpoint, number>, mayWait: boolean): Promise<Reservation> {
    const wanted = Array.from(this.#isStopping ? [] : counts, ([endpoint, count]) => {
      const queue = this.#deps.queues.of(endpoint);
      queue.applySettings(endpoint, Date.now());
      return { queue, count };
    });
    return this.#reservations.reserve(wanted, mayWait);
  }

  isInHand(lane: Lane): boolean {
    return this.#deps.queues.find(lane.endpointId)?.has(lane) ?? false;
  }

  /** Wakes the search for due lanes in the database. */
  wake(): void {
    this.#deps.alarm.ring();
  }

  /** Lets the next probe of an open breaker wait for nothing but a `Retry-After`. */
  wantProbe(endpointId: string): void {
    const queue = this.#deps.queues.find(endpointId);
    queue?.wantProbe(Date.now());
    // A leased lane is probed here, because it is not claimed again.
    if (queue) this.#pump(queue);
    this.wake();
  }

  /** Takes leased lanes, with payloads that they may need. Releases those whose body does not fit. */
  take(lanes: readonly LeasedLane[], payloads: readonly StoredPayload[]): void {
    for (const payload of payloads) this.#deps.payloads.put(payload);
    const byQueue = Map.groupBy(lanes, (lane) => {
      const row = rowOf(lane);
      return row ? this.#deps.queues.of(row) : undefined;
    });
    for (const [queue, own] of byQueue) if (queue) this.#takeInto(queue, own);
  }

  #takeInto(queue: EndpointQueue, lanes: readonly LeasedLane[]): void {
    const { taken = [], refused = [] } = Object.groupBy(lanes, (lane) => (queue.push(lane) ? "taken" : "refused"));
    this.#deps.payloads.prefetch(taken.flatMap((lane) => rowOf(lane) ?? []).filter(({ notice }) => !notice));
    if (refused.length > 0) {
      this.#release(queue, refused);
      this.#waitForCapacity(queue);
    }
    this.#pump(queue);
  }

  /**
   * Claims due lanes of an endpoint, or one for a due probe, as far as there is capacity, and
   * starts them. Claims nothing for a disabled endpoint. Rejects when MongoDB is unavailable.
   */
  async claim(queue: EndpointQueue, dueBy: Date): Promise<void> {
    if (this.#isStopping) return;
    this.#claiming.add(queue);
    const take = (lanes: readonly LeasedLane[]) => this.take(lanes, []);
    const isCut = await claimLanes(this.#deps, queue, dueBy, take).finally(() => this.#claiming.delete(queue));
    if (isCut) this.#waitForCapacity(queue);
    // When a probe is due and a leased lane waits, nothing was claimed: the waiting lane is probed.
    this.#pump(queue);
    this.#deps.queues.forgetIdle(queue);
  }

  /** Starts attempts as far as the endpoint's gate admits them and slots are free. */
  #pump(queue: EndpointQueue): void {
    while (queue.readyCount > 0 && !this.#isStopping) {
      const now = Date.now();
      if (queue.startable(now) === 0) {
        this.#wait(queue, now);
        return;
      }
      const slots = this.#slots.freeOf(queue.tenantId);
      if (slots <= 0) {
        this.#slots.wait(queue);
        return;
      }
      const { lanes, isProbe } = queue.start(slots, now);
      this.#slots.take(queue.tenantId, lanes.length);
      for (const lane of lanes) this.#run(queue, lane, isProbe);
    }
  }

  #wait(queue: EndpointQueue, now: number): void {
    const until = queue.opensAt(now);
    if (until === undefined) return;
    if (queue.isShut(now) && queue.inFlight === 0) this.#release(queue, queue.drain());
    else setTimeout(() => this.#pump(queue), until - now).unref();
    this.#deps.alarm.ringAt(until);
  }

  #run(queue: EndpointQueue, lane: LeasedLane, isProbe: boolean): void {
    const run = this.#attempt(queue, lane, isProbe).catch((error: unknown) => {
      this.#deps.log.error({ err: error, endpointId: queue.endpointId }, "lane waits for the end of its lease");
      queue.release(lane);
    });
    this.#keep(run);
  }

  #keep(run: Promise<void>): void {
    const kept = run.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }

  async #attempt(queue: EndpointQueue, lane: LeasedLane, isProbe: boolean): Promise<void> {
    const startedAt = performance.now();
    const prepared = await prepareAttempt(this.#attempts, lane).catch((error: unknown): Prepared => {
      this.#warn(queue, "attempt not made")(error);
      return { kind: "unavailable" };
    });
    const waitedMs = performance.now() - startedAt;
    if (prepared.kind === "ready") await this.#send(queue, lane, prepared, { isProbe, waitedMs });
    else {
      queue.noteNotMade(isProbe, Date.now());
      this.#freeSlot(queue);
      this.#drop(queue, lane);
      await returnLane(this.#deps, queue, lane, prepared.kind);
    }
    this.#pump(queue);
    this.#deps.queues.forgetIdle(queue);
  }

  async #send(
    queue: EndpointQueue,
    lane: LeasedLane,
    prepared: ReadyAttempt,
    { isProbe, waitedMs }: { isProbe: boolean; waitedMs: number },
  ): Promise<void> {
    queue.applySettings(prepared.endpoint, Date.now());
    const outcome = await postAttempt(this.#deps, prepared);
    const before = queue.gate;
    // The wait for the body counts, too, because it has kept other attempts from starting.
    const whole = { ...outcome, tookMs: waitedMs + outcome.tookMs };
    const event = queue.noteAnswer(prepared.row, whole, isProbe, Date.now());
    if (isNews(before, queue.gate)) {
      const kept = this.#deps.gates.keep(queue, event === "recovered" ? before.open?.since : undefined);
      this.#keep(kept.then(() => this.#deps.queues.forgetIdle(queue)));
    }
    // The next attempt may start now, while the answer is being journaled.
    this.#freeSlot(queue);
    const mayGoOn = () => this.#mayGoOn(queue);
    const journaled = await journalAttempt(this.#attempts, prepared, outcome, { isProbe, mayGoOn });
    logAttempt(this.#deps.log, prepared, outcome, journaled);
    this.#deps.metrics.observe(prepared, outcome, journaled.ended);
    for (const { row } of journaled.ended) this.#deps.payloads.noteEnded(row);
    this.#drop(queue, lane);
    if (journaled.lane) this.#takeInto(queue, [journaled.lane]);
    else if (journaled.step.next !== "empty") this.#deps.alarm.ringAt(journaled.step.lane.dueAt.getTime());
    if (event) await this.#react(queue, event).catch(this.#warn(queue, "lanes wait despite the breaker's change"));
  }

  /** Whether a lane may keep its lease for its next row, which waits at the end of the queue. */
  #mayGoOn(queue: EndpointQueue): boolean {
    return !this.#isStopping && !queue.isShut(Date.now()) && this.#deps.queues.find(queue.endpointId) === queue;
  }

  #freeSlot(queue: EndpointQueue): void {
    this.#slots.free(queue.tenantId);
    // A queue that waits for a slot comes first, because `queue` could take the slot again.
    const longest = this.#slots.next();
    if (longest) this.#pump(longest);
    this.#pump(queue);
    const now = Date.now();
    this.#release(queue, queue.takeSurplus(now));
    // The claim begins before `noteCapacity`, but reserves capacity only after it has read the
    // gate. So waiting batches of ingest get free capacity before the claim does.
    const isServed = this.#claiming.has(queue) || this.#withoutCapacity.has(queue);
    if (!isServed && queue.wantsMore(now)) this.#claimSafely(queue);
    this.#reservations.noteCapacity();
  }

  #claimSafely(queue: EndpointQueue): void {
    const run = this.claim(queue, new Date()).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, endpointId: queue.endpointId }, "lanes of an endpoint not claimed");
      this.wake();
    });
    this.#keep(run);
  }

  /** Notes that the queue needs a claim once memory for bodies is free. */
  #waitForCapacity(queue: EndpointQueue): void {
    queue.noteMoreDue();
    this.#withoutCapacity.add(queue);
  }

  #drop(queue: EndpointQueue, lane: LeasedLane): void {
    queue.release(lane);
    // Only one queue claims: the one that has waited longest of those whose tenant has free memory.
    const waiting = this.#withoutCapacity.values().find(({ tenantId }) => this.#deps.bodies.hasCapacity(tenantId));
    if (waiting && this.#withoutCapacity.delete(waiting)) this.#claimSafely(waiting);
  }

  async #react(queue: EndpointQueue, event: NonNullable<GateChange["event"]>): Promise<void> {
    const { endpointId, tenantId } = queue;
    this.#deps.log.warn({ endpointId, tenant: tenantId }, `breaker: ${event}`);
    if (event === "opened") this.#release(queue, queue.drain());
    if (event === "gone" && (await this.#deps.disableGone({ tenantId, endpointId }))) {
      this.#release(queue, queue.drain());
      queue.adopt(newGate);
      await this.#deps.gates.keep(queue);
    }
    if (event === "recovered") {
      await this.#deps.lanes.expediteEndpoint(endpointId, new Date());
      this.wake();
    }
  }

  /** Releases the leases of lanes that are no longer in hand. They are due at once. */
  #release(queue: EndpointQueue, lanes: readonly LeasedLane[]): void {
    if (lanes.length === 0) return;
    const run = this.#deps.lanes.release(lanes, new Date());
    this.#keep(run.catch(this.#warn(queue, "lanes wait for the end of their leases")));
  }

  #warn({ endpointId }: EndpointQueue, message: string): (error: unknown) => void {
    return (err) => this.#deps.log.warn({ err, endpointId }, message);
  }

  /** Releases waiting lanes; waits, at most `leaseMs`, until running attempts are journaled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#reservations.end();
    for (const queue of this.#deps.queues) this.#release(queue, queue.drain());
    await untilEnded(this.#running, this.#deps.leaseMs);
  }
}
