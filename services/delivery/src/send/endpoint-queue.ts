import type { HeldDelivery } from "../domain/delivery.ts";

/** Most attempts under way at one endpoint, from one process: so that none takes the sockets of another. */
const inFlightMax = 10;

/** What this process holds for one endpoint, in the order it was taken. */
export class EndpointQueue {
  readonly endpointId: string;
  /** Whether there may be more due than there was room for. */
  starved = false;
  readonly #waiting: HeldDelivery[] = [];
  #inFlight = 0;
  #held = 0;

  constructor(endpointId: string) {
    this.endpointId = endpointId;
  }

  /** Deliveries waiting, in flight or being recorded. */
  get held(): number {
    return this.#held;
  }

  push(delivery: HeldDelivery): void {
    this.#held += 1;
    this.#waiting.push(delivery);
  }

  /** The next to attempt; undefined when there is none or enough are under way. */
  start(): HeldDelivery | undefined {
    if (this.#inFlight >= inFlightMax) return undefined;
    const next = this.#waiting.shift();
    if (next) this.#inFlight += 1;
    return next;
  }

  /** Frees the place of an attempt. */
  finishAttempt(): void {
    this.#inFlight -= 1;
  }

  /** Forgets a delivery whose attempt is recorded. */
  letGo(): void {
    this.#held -= 1;
  }

  /** Takes out everything that waits. */
  drain(): HeldDelivery[] {
    this.#held -= this.#waiting.length;
    return this.#waiting.splice(0);
  }
}
