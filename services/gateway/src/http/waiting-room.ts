import type { FastifyReply, FastifyRequest } from "fastify";

/** How many requests may wait at once. */
export interface WaitingRoomOptions {
  /** Of all tenants together. */
  readonly placesMax: number;
  /** Of one tenant. */
  readonly tenantPlacesMax: number;
}

/**
 * Where requests wait for something to happen. While they do, they cost a socket and no work, so their time counts as
 * nobody's slowness, and a process that stops does not wait for them.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions;
  readonly #places = new Map<AbortController, string>();
  #closed = false;

  constructor(options: WaitingRoomOptions = { placesMax: 2_048, tenantPlacesMax: 256 }) {
    this.#options = options;
  }

  /** Requests that wait now. */
  get taken(): number {
    return this.#places.size;
  }

  /**
   * Runs work that only waits. Its signal aborts when the client goes away or the room closes; the result is then
   * undefined, as it is, at once, when there is no place. Whatever else the work throws is thrown.
   */
  async wait<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const tenantId = request.caller?.tenantId ?? "";
    if (reply.raw.destroyed || !this.#hasPlaceFor(tenantId)) return undefined;
    const place = new AbortController();
    const leave = () => place.abort();
    reply.raw.once("close", leave);
    this.#places.set(place, tenantId);
    const resume = pauseClock(request);
    try {
      return await work(place.signal);
    } catch (error) {
      if (place.signal.aborted) return undefined;
      throw error;
    } finally {
      resume();
      this.#places.delete(place);
      reply.raw.off("close", leave);
    }
  }

  /** Sends everybody home and lets nobody in any more. */
  close(): void {
    this.#closed = true;
    for (const place of this.#places.keys()) place.abort();
  }

  #hasPlaceFor(tenantId: string): boolean {
    if (this.#closed || this.#places.size >= this.#options.placesMax) return false;
    const own = this.#places.values().filter((holder) => holder === tenantId);
    return own.take(this.#options.tenantPlacesMax).toArray().length < this.#options.tenantPlacesMax;
  }
}

function pauseClock(request: FastifyRequest): () => void {
  const from = performance.now();
  request.pausedAt = from;
  return () => {
    request.startedAt += performance.now() - from;
    request.pausedAt = undefined;
  };
}
