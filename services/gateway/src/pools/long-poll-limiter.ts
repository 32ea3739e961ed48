import type { FastifyReply, FastifyRequest } from "fastify";
import { HttpError, inOneSecond } from "../errors/http-error.ts";
import type { SharedPool } from "./shared-pool.ts";

/**
 * Runs work that only waits for a change. Its signal aborts when the client leaves or the process
 * stops; undefined when the work fails after that, or when that happened before the work began.
 */
export type Wait = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T | undefined>;

interface PollingRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Releases the request's slot, because a waiting request does no work. */
  releaseSlot(): void;
}

/**
 * Limits the long polls of each tenant to its share, and ends their waits when the process stops.
 */
export class LongPollLimiter {
  readonly #pool: SharedPool;
  readonly #waits = new Set<AbortController>();
  #closed = false;

  constructor(pool: SharedPool) {
    this.#pool = pool;
  }

  /**
   * Runs a long poll, which waits by calling the function that it is given. Throws before the poll
   * begins: RATE_LIMITED above the tenant's share, UNAVAILABLE when the pool is exhausted or the
   * limiter closed. After an empty answer instead, clients would repeat the poll at once.
   */
  async run<T>(polling: PollingRequest, poll: (wait: Wait) => Promise<T>): Promise<T> {
    if (this.#closed) throw new HttpError("UNAVAILABLE", "this gateway is stopping", inOneSecond);
    const tenantId = polling.request.caller?.tenantId ?? "";
    this.#pool.take(tenantId, 1);
    try {
      return await poll((work) => this.#wait(polling, work));
    } finally {
      this.#pool.give(tenantId, 1);
    }
  }

  close(): void {
    this.#closed = true;
    for (const wait of this.#waits) wait.abort();
  }

  async #wait<T>(
    { request, reply, releaseSlot }: PollingRequest,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#closed || reply.raw.destroyed) return undefined;
    const wait = new AbortController();
    const end = () => wait.abort();
    reply.raw.once("close", end);
    this.#waits.add(wait);
    releaseSlot();
    const resume = pauseClock(request);
    try {
      return await work(wait.signal);
    } catch (error) {
      if (wait.signal.aborted) return undefined;
      throw error;
    } finally {
      resume();
      this.#waits.delete(wait);
      reply.raw.off("close", end);
    }
  }
}

/** Stops the request's clock while it waits, so that its measured duration is only work. */
function pauseClock(request: FastifyRequest): () => void {
  const from = performance.now();
  request.pausedAt = from;
  return () => {
    request.startedAt += performance.now() - from;
    request.pausedAt = undefined;
  };
}
