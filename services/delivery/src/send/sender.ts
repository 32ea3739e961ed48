import { createBatcher } from "@vidimus/kit/queues/batcher";
import { withinDeadline } from "@vidimus/kit/deadline";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { AttemptRecord, HeldDelivery } from "../domain/delivery.ts";
import type { Payload } from "../domain/payload.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import { type ClaimDeps, claimRound } from "./claim-round.ts";
import { deliver, type DeliverDeps } from "./deliver.ts";
import { EndpointQueue } from "./endpoint-queue.ts";
import type { PayloadShelf } from "./payload-shelf.ts";
import { WakeUp } from "./wake-up.ts";

export interface SenderDeps extends DeliverDeps, Omit<ClaimDeps, "roomOf" | "deliveries"> {
  deliveries: DeliverDeps["deliveries"] & Pick<DeliveryStore, "advance" | "laneHeads" | "record">;
  shelf: PayloadShelf;
  log: Logger;
  pollMs: number;
}

/** Most deliveries to one endpoint that this process holds, in flight, waiting for their turn or being recorded. */
const heldMax = 128;
const recordRetryMs = 250;

/** Attempts what is due: what ingest hands over, at once; all else as its rows come due. MongoDB is the scheduler. */
export class Sender implements AsyncDisposable {
  readonly #deps: SenderDeps;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #wakeUp = new WakeUp();
  readonly #record: (record: AttemptRecord) => Promise<void>;
  readonly #loop: Promise<void>;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
    this.#record = createBatcher<AttemptRecord, void>({
      itemsMax: 256,
      run: async (records) => {
        await deps.deliveries.record(records, new Date());
        // A lane may have moved on.
        this.wake();
        return records.map(() => undefined);
      },
    });
    this.#loop = this.#claimUntilStopped();
  }

  roomOf(endpointId: string): number {
    if (this.#stop.signal.aborted) return 0;
    return Math.max(0, heldMax - (this.#queues.get(endpointId)?.held ?? 0));
  }

  take(held: readonly HeldDelivery[], payloads: readonly Payload[]): void {
    for (const payload of payloads) this.#deps.shelf.put(payload);
    this.#takeHeld(held);
  }

  wake(): void {
    this.#wakeUp.wake();
  }

  /** Gives back what waits for its turn, lets attempts under way end, and records them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#loop;
    const waiting = [...this.#queues.values()].flatMap((queue) => queue.drain());
    await this.#deps.deliveries.release(waiting, new Date()).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, "deliveries wait for their leases to end");
    });
    await withinDeadline(Promise.all(this.#running), this.#deps.leaseMs);
  }

  async #claimUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const woken = this.#wakeUp.next();
      let waitMs = this.#deps.pollMs;
      try {
        const { held, starved, nextAt } = await claimRound({ ...this.#deps, roomOf: (id) => this.roomOf(id) });
        this.#takeHeld(held);
        for (const endpointId of starved) this.#noteStarved(endpointId);
        if (nextAt) waitMs = Math.min(waitMs, Math.max(1, nextAt.getTime() - Date.now()));
      } catch (error) {
        this.#deps.log.warn({ err: error }, "nothing can be claimed");
        await pause(recordRetryMs, undefined, { signal }).catch(() => {});
      }
      await this.#wakeUp.within(woken, waitMs);
    }
  }

  /** Comes back for the rest once there is room; there may be by now. */
  #noteStarved(endpointId: string): void {
    const queue = this.#queues.get(endpointId);
    if (queue && queue.held > heldMax / 2) queue.starved = true;
    else this.wake();
  }

  #takeHeld(held: readonly HeldDelivery[]): void {
    for (const delivery of held) this.#queueOf(delivery.endpointId).push(delivery);
    for (const endpointId of new Set(held.map((delivery) => delivery.endpointId)))
      this.#pump(this.#queueOf(endpointId));
  }

  #queueOf(endpointId: string): EndpointQueue {
    const known = this.#queues.get(endpointId);
    if (known) return known;
    const queue = new EndpointQueue(endpointId);
    this.#queues.set(endpointId, queue);
    return queue;
  }

  #pump(queue: EndpointQueue): void {
    for (let next = queue.start(); next; next = queue.start()) {
      const run = this.#attempt(queue, next);
      this.#running.add(run);
      void run.finally(() => this.#running.delete(run));
    }
  }

  async #attempt(queue: EndpointQueue, held: HeldDelivery): Promise<void> {
    const { log } = this.#deps;
    const record = await deliver(this.#deps, held).catch((error: unknown) => {
      // The lease ends by itself, and the delivery comes due again.
      log.warn({ err: error, deliveryId: held.deliveryId }, "attempt not made");
    });
    queue.finishAttempt();
    this.#pump(queue);
    if (record) await this.#keep(record);
    queue.letGo();
    if (queue.starved && queue.held <= heldMax / 2) {
      queue.starved = false;
      this.wake();
    }
    if (queue.held === 0) this.#queues.delete(queue.endpointId);
  }

  /** Tries to record an attempt for as long as its lease stands; after that it is made again. */
  async #keep(record: AttemptRecord): Promise<void> {
    const { delivery, outcome, verdict } = record;
    const { deliveryId, endpointId, tenantId: tenant, webhookId } = delivery;
    const { status, failure, tookMs: ms } = outcome;
    const attempt = delivery.attemptCount + 1;
    const line = { deliveryId, endpointId, tenant, webhookId, attempt, status, failure, ms, state: verdict.state };
    this.#deps.log.info(line, "attempt");
    for (;;) {
      try {
        return await this.#record(record);
      } catch (error) {
        this.#deps.log.warn({ err: error, deliveryId }, "attempt not recorded");
        if (Date.now() > delivery.leaseUntil.getTime()) return;
        await pause(recordRetryMs);
      }
    }
  }
}
