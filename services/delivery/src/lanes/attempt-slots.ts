import { Holdings } from "@vidimus/kit/fair/holdings";
import type { EndpointQueue } from "./endpoint-queue.ts";

/** Most attempts in flight, of one tenant and in total, so that no tenant takes all slots. */
const slotsMax = { tenant: 512, all: 1_024 };

export class AttemptSlots {
  readonly #inFlight = new Holdings();
  readonly #waiting = new Set<EndpointQueue>();

  freeOf(tenantId: string): number {
    return Math.min(slotsMax.tenant - this.#inFlight.of(tenantId), slotsMax.all - this.#inFlight.total);
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

  /** Removes and returns the longest waiting queue whose tenant has a free slot. */
  next(): EndpointQueue | undefined {
    for (const queue of this.#waiting) {
      const hasLanes = queue.readyCount > 0;
      if (hasLanes && this.freeOf(queue.tenantId) <= 0) continue;
      this.#waiting.delete(queue);
      if (hasLanes) return queue;
    }
    return undefined;
  }
}
