import { Holdings } from "@vidimus/kit/queues/holdings";
import type { EndpointQueue } from "./endpoint-queue.ts";

/** Most attempts in flight, of one tenant and of all: so that none takes the sockets of another. */
const placesMax = { tenant: 512, all: 1_024 };

/** Places of attempts in flight. */
export class AttemptPlaces {
  readonly #inFlight = new Holdings();
  readonly #waiting = new Set<EndpointQueue>();

  /** How many a tenant may take. */
  freeOf(tenantId: string): number {
    return Math.min(placesMax.tenant - this.#inFlight.of(tenantId), placesMax.all - this.#inFlight.total);
  }

  take(tenantId: string, count: number): void {
    this.#inFlight.add(tenantId, count);
  }

  free(tenantId: string): void {
    this.#inFlight.add(tenantId, -1);
  }

  /** Notes that lanes of a queue wait for a place. */
  wait(queue: EndpointQueue): void {
    this.#waiting.add(queue);
  }

  /** The queue that has waited longest; it waits no more. */
  next(): EndpointQueue | undefined {
    const [longest] = this.#waiting;
    if (longest) this.#waiting.delete(longest);
    return longest;
  }
}
