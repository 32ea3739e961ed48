import { Holdings } from "@vidimus/kit/fair/holdings";
import type { EndpointQueue } from "./endpoint-queue.ts";

/** Most attempts in flight, of one tenant and in total, so that no tenant takes all sockets. */
const placesMax = { tenant: 512, all: 1_024 };

/** Counts attempts in flight against their limits. */
export class AttemptPlaces {
  readonly #inFlight = new Holdings();
  readonly #waiting = new Set<EndpointQueue>();

  /** How many more attempts a tenant may start. */
  freeOf(tenantId: string): number {
    return Math.min(placesMax.tenant - this.#inFlight.of(tenantId), placesMax.all - this.#inFlight.total);
  }

  take(tenantId: string, count: number): void {
    this.#inFlight.add(tenantId, count);
  }

  free(tenantId: string): void {
    this.#inFlight.add(tenantId, -1);
  }

  /** Notes that lanes of a queue wait until an attempt ends. */
  wait(queue: EndpointQueue): void {
    this.#waiting.add(queue);
  }

  /** Removes and returns the queue that has waited longest. */
  next(): EndpointQueue | undefined {
    const [longest] = this.#waiting;
    if (longest) this.#waiting.delete(longest);
    return longest;
  }
}
