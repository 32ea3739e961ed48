import type { Lane } from "../domain/delivery.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import type { EndpointStateStore } from "../store/endpoint-state-store.ts";
import { EndpointQueue, type SharedByQueues } from "./endpoint-queue.ts";
import type { StoredGates } from "./stored-gates.ts";

export interface EndpointQueuesDeps {
  readonly shared: SharedByQueues;
  readonly states: Pick<EndpointStateStore, "list">;
  readonly gates: Pick<StoredGates, "adopt" | "forget">;
  /** Whether this replica is preferred for a tenant. */
  readonly isPreferredFor: (tenantId: string) => boolean;
}

/**
 * The queues of endpoints that have anything in hand, or are in trouble.
 *
 * What other processes have stored of an endpoint is read before its first attempt. For the tenants
 * that this replica is preferred for all of it is read at once, at the start and at each takeover; no
 * other replica writes it as long as that lasts. For others it is read endpoint by endpoint.
 */
export class EndpointQueues {
  readonly #deps: EndpointQueuesDeps;
  readonly #queues = new Map<string, EndpointQueue>();
  /** Counts takeovers. */
  #takeover = 0;
  /** The takeover since which all is known; 0 before the start. */
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

  /** The queue of an endpoint, made when it is asked for. */
  of(endpoint: Pick<Lane, "endpointId" | "tenantId">): EndpointQueue {
    const known = this.#queues.get(endpoint.endpointId);
    if (known) return known;
    const queue = new EndpointQueue(endpoint, this.#deps.shared);
    // What is in trouble has a queue since all was read.
    if (this.#isKnown(endpoint.tenantId)) queue.adopt(newGate);
    this.#queues.set(endpoint.endpointId, queue);
    return queue;
  }

  /** Drops a queue that has nothing to remember, or that another replica remembers. */
  forgetIdle(queue: EndpointQueue): void {
    const { tenantId } = queue;
    const isOthers = queue.isIdle && queue.inFlight === 0 && !this.#deps.isPreferredFor(tenantId);
    if (isOthers || queue.isForgettable(Date.now())) this.#drop(queue);
  }

  /** Call it when other replicas run than before: this one may be preferred for other tenants. */
  noteTakeover(): void {
    this.#takeover += 1;
    for (const queue of this.#queues.values()) if (queue.isIdle && queue.inFlight === 0) this.#drop(queue);
  }

  /** Reads all gates after `noteTakeover`. Rejects when they cannot be read; call it again then. */
  async readGates(): Promise<void> {
    const takeover = this.#takeover;
    const states = await this.#deps.states.list();
    if (takeover !== this.#takeover) return;
    const own = states.filter(({ tenantId }) => this.#deps.isPreferredFor(tenantId));
    for (const state of own) {
      const queue = this.of(state);
      if (!queue.isGateKnown || queue.isIdle) this.#deps.gates.adopt(queue, state);
    }
    for (const queue of this.#queues.values()) {
      const isOwn = this.#deps.isPreferredFor(queue.tenantId);
      if (isOwn && !queue.isGateKnown) this.#deps.gates.adopt(queue, undefined);
    }
    this.#knownSince = takeover;
  }

  #isKnown(tenantId: string): boolean {
    return this.#takeover > 0 && this.#knownSince === this.#takeover && this.#deps.isPreferredFor(tenantId);
  }

  #drop(queue: EndpointQueue): void {
    this.#queues.delete(queue.endpointId);
    this.#deps.gates.forget(queue);
  }
}
