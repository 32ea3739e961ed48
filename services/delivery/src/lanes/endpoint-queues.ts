import type { Lane } from "../domain/delivery.ts";
import { isBlank, newGate } from "../domain/endpoint-gate.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import { EndpointQueue, type SharedByQueues } from "./endpoint-queue.ts";
import type { StoredGates } from "./stored-gates.ts";

interface EndpointQueuesDeps {
  readonly shared: SharedByQueues;
  readonly states: Pick<EndpointStateStore, "list">;
  readonly gates: Pick<StoredGates, "adopt" | "isKeeping">;
  /** Whether this replica claims a tenant's lanes when they are due, and not only when overdue. */
  readonly isPreferredFor: (tenantId: string) => boolean;
}

/**
 * The queues of endpoints that have lanes in hand, or a gate that is not blank.
 *
 * The gate that other processes have stored is read before an endpoint's first attempt, and again
 * at each claim. For tenants that this replica is preferred for, all gates are read at once, at the
 * start and at each takeover, so that lanes which ingest passes on need no read. For other tenants,
 * gates are read endpoint by endpoint.
 */
export class EndpointQueues {
  readonly #deps: EndpointQueuesDeps;
  readonly #queues = new Map<string, EndpointQueue>();
  #takeover = 0;
  /** Value of `#takeover` for which all gates were read last; 0 before the first read. */
  #knownSince = 0;

  constructor(deps: EndpointQueuesDeps) {
    this.#deps = deps;
  }

  [Symbol.iterator](): Iterator<EndpointQueue> {
    return this.#queues.values();
  }

  find(endpointId: string): EndpointQueue | undefined {
    return this.#queues.get(endpointId);
  }

  of(endpoint: Pick<Lane, "endpointId" | "tenantId">): EndpointQueue {
    const known = this.#queues.get(endpoint.endpointId);
    if (known) return known;
    const queue = new EndpointQueue(endpoint, this.#deps.shared);
    // After all stored gates were read, queues are dropped only while their gates are blank. So the
    // gate of an endpoint without a queue is blank.
    if (this.#isKnown(endpoint.tenantId)) queue.adopt(newGate);
    this.#queues.set(endpoint.endpointId, queue);
    return queue;
  }

  /**
   * Drops a queue that is not needed any more. A caller may hold a queue that was dropped while the
   * caller waited; the endpoint's next queue then stays.
   */
  forgetIdle(queue: EndpointQueue): void {
    const { endpointId, tenantId } = queue;
    if (this.#queues.get(endpointId) !== queue || !this.#isAtRest(queue)) return;
    if (!this.#deps.isPreferredFor(tenantId) || isBlank(queue.gate, Date.now())) this.#drop(queue);
  }

  /**
   * Call this when the set of running replicas has changed, because this replica may then be
   * preferred for other tenants than before. Drops idle queues, so that their stored gates are read
   * again.
   */
  noteTakeover(): void {
    this.#takeover += 1;
    for (const queue of this.#queues.values()) if (this.#isAtRest(queue)) this.#drop(queue);
  }

  /** Reads all gates after `noteTakeover`. When it rejects, call it again. */
  async readGates(): Promise<void> {
    const takeover = this.#takeover;
    const states = await this.#deps.states.list();
    if (takeover !== this.#takeover) return;
    const own = states.filter(({ tenantId }) => this.#deps.isPreferredFor(tenantId));
    for (const state of own) {
      const queue = this.of(state);
      if (!queue.isGateKnown || this.#isAtRest(queue)) this.#deps.gates.adopt(queue, state);
    }
    for (const queue of this.#queues.values()) {
      const isOwn = this.#deps.isPreferredFor(queue.tenantId);
      if (isOwn && !queue.isGateKnown) this.#deps.gates.adopt(queue, undefined);
    }
    this.#knownSince = takeover;
  }

  #isAtRest(queue: EndpointQueue): boolean {
    return queue.isIdle && queue.inFlight === 0 && !this.#deps.gates.isKeeping(queue);
  }

  #isKnown(tenantId: string): boolean {
    return this.#takeover > 0 && this.#knownSince === this.#takeover && this.#deps.isPreferredFor(tenantId);
  }

  #drop(queue: EndpointQueue): void {
    this.#queues.delete(queue.endpointId);
  }
}
