import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { isTrouble, newGate } from "../domain/endpoint-gate.ts";
import type { EndpointState, EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { EndpointName } from "../domain/endpoint-name.ts";

interface StoredGatesDeps {
  readonly states: Pick<EndpointStateStore, "findMany" | "put" | "delete">;
  /** Announces that an endpoint's breaker, which opened at `since`, has closed. */
  readonly announceClosed: (endpoint: EndpointName, since: Date) => Promise<void>;
  readonly log: Logger;
}

/** A running write, and whether another one must follow. */
interface Writing {
  isStale: boolean;
  openSince: number | undefined;
  readonly done: Promise<void>;
}

/**
 * Reads and stores the gates of endpoints in trouble (an open breaker, a pause, a 410) for the
 * replica that takes an endpoint over.
 */
export class StoredGates {
  readonly #deps: StoredGatesDeps;
  readonly #read: (endpointId: string) => Promise<EndpointState | undefined>;
  /**
   * The generation of an endpoint's row when this queue's gate was last read or written; absent
   * while there is no row.
   */
  readonly #generations = new WeakMap<EndpointQueue, string>();
  readonly #writing = new Map<string, Writing>();

  constructor(deps: StoredGatesDeps) {
    this.#deps = deps;
    this.#read = createBatcher<string, EndpointState | undefined>({
      itemsMax: 256,
      run: async (endpointIds) => {
        const found = await deps.states.findMany([...new Set(endpointIds)]);
        const states = new Map(found.map((state) => [state.endpointId, state]));
        return endpointIds.map((endpointId) => states.get(endpointId));
      },
    });
  }

  /** Reads the gate of a queue unless it is known. When it rejects, nothing may be sent. */
  async ensureKnown(queue: EndpointQueue): Promise<void> {
    if (queue.isGateKnown) return;
    const state = await this.#read(queue.endpointId);
    if (!queue.isGateKnown) this.adopt(queue, state);
  }

  /** Gives a queue its stored gate, or a new gate when none is stored. */
  adopt(queue: EndpointQueue, state: EndpointState | undefined): void {
    queue.adopt(state?.gate ?? newGate);
    if (state) this.#generations.set(queue, state.generation);
    else this.#generations.delete(queue);
  }

  /** Whether a gate is being stored. Its queue must not be dropped then. */
  isKeeping({ endpointId }: EndpointQueue): boolean {
    return this.#writing.has(endpointId);
  }

  /**
   * Stores the queue's gate while the endpoint is in trouble, and otherwise deletes the stored one.
   * Writes of an endpoint follow each other. When another process has written the gate since this
   * one last did, the queue gets the gate of that process.
   *
   * @param openSince when the breaker opened that has just closed, in milliseconds since 1970
   */
  keep(queue: EndpointQueue, openSince?: number): Promise<void> {
    const underway = this.#writing.get(queue.endpointId);
    if (underway) {
      underway.isStale = true;
      underway.openSince ??= openSince;
      return underway.done;
    }
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const writing = { isStale: true, openSince, done };
    this.#writing.set(queue.endpointId, writing);
    void this.#writeAll(queue, writing).then(resolve);
    return done;
  }

  async #writeAll(queue: EndpointQueue, writing: Writing): Promise<void> {
    const { endpointId, tenantId } = queue;
    try {
      while (writing.isStale) {
        const { openSince } = writing;
        writing.isStale = false;
        writing.openSince = undefined;
        if (openSince !== undefined) {
          await this.#deps.announceClosed({ endpointId, tenantId }, new Date(openSince));
        }
        if (!(await this.#write(queue))) this.adopt(queue, await this.#read(endpointId));
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, endpointId }, "state of an endpoint not stored");
    } finally {
      this.#writing.delete(endpointId);
    }
  }

  /**
   * @returns false when another process has written the gate since this one last read or wrote it
   */
  async #write(queue: EndpointQueue): Promise<boolean> {
    const { states } = this.#deps;
    const { endpointId, tenantId, gate } = queue;
    const generation = this.#generations.get(queue);
    if (isTrouble(gate, Date.now())) {
      const written = await states.put({ endpointId, tenantId, gate, generation });
      if (written !== undefined) this.#generations.set(queue, written);
      return written !== undefined;
    }
    if (generation === undefined) return true;
    this.#generations.delete(queue);
    return states.delete(endpointId, generation);
  }
}
