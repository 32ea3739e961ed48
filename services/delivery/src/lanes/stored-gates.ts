import { createBatcher } from "@vidimus/kit/queues/batcher";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { isTrouble, newGate } from "../domain/endpoint-gate.ts";
import type { EndpointState, EndpointStateStore } from "../store/endpoint-state-store.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";

interface StoredGatesDeps {
  readonly states: Pick<EndpointStateStore, "findMany" | "put" | "delete">;
  /** Announces that an endpoint's breaker, which opened at `since`, has closed. */
  readonly announceClosed: (endpoint: EndpointKey, since: Date) => Promise<void>;
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
   * The generation of an endpoint's row when the queue's gate was last read or written; absent
   * while there is no row.
   */
  readonly #generations = new WeakMap<EndpointQueue, string>();
  readonly #writing = new Map<string, Writing>();
  /** The last write of a queue's gate that has ended. */
  readonly #written = new WeakMap<EndpointQueue, Writing>();

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

  /**
   * Reads a queue's stored gate. A queue without a gate adopts it. So does, by the rules of
   * `#follow`, a queue whose stored gate another process has changed since this one last read or
   * wrote it. When the read rejects, claim nothing.
   */
  async refresh(queue: EndpointQueue): Promise<void> {
    const [known, written] = [this.#generations.get(queue), this.#written.get(queue)];
    const state = await this.#read(queue.endpointId);
    if (!queue.isGateKnown) return this.adopt(queue, state);
    // A gate that this process has written meanwhile may be newer than the one that was read.
    const isWritten = this.isKeeping(queue) || this.#written.get(queue) !== written;
    const isOwn = isWritten || this.#generations.get(queue) !== known;
    if (!isOwn && state?.generation !== known) this.#follow(queue, state);
  }

  adopt(queue: EndpointQueue, state: EndpointState | undefined): void {
    queue.adopt(state?.gate ?? newGate);
    if (state) this.#generations.set(queue, state.generation);
    else this.#generations.delete(queue);
  }

  /**
   * Gives a queue the gate that another process stored, or a new one when none is stored. A stored
   * pause that has ended is not adopted: only the generation of its row is noted, so that the next
   * write replaces or deletes the row.
   *
   * @returns whether the queue has adopted the gate
   */
  #follow(queue: EndpointQueue, state: EndpointState | undefined): boolean {
    const isAdopted = !state || isTrouble(state.gate, Date.now());
    if (isAdopted) this.adopt(queue, state);
    else this.#generations.set(queue, state.generation);
    return isAdopted;
  }

  /** Whether a gate is being stored. Its queue must not be dropped then. */
  isKeeping({ endpointId }: EndpointQueue): boolean {
    return this.#writing.has(endpointId);
  }

  /**
   * Stores the queue's gate while the endpoint is in trouble, and otherwise deletes the stored one.
   * Writes of an endpoint follow each other. When another process has written the gate since this
   * one last read or wrote it, the queue gets the gate of that process, unless it is out of date.
   *
   * @param openSince when the breaker opened whose closing is to be announced, in milliseconds
   * since 1970
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
        if (await this.#write(queue)) continue;
        if (!this.#follow(queue, await this.#read(endpointId))) writing.isStale = true;
      }
    } catch (error) {
      this.#deps.log.warn({ err: error, endpointId }, "state of an endpoint not stored");
    } finally {
      this.#writing.delete(endpointId);
      this.#written.set(queue, writing);
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
    const isDeleted = await states.delete(endpointId, generation);
    this.#generations.delete(queue);
    return isDeleted;
  }
}
