import { TurnQueue } from "@vidimus/kit/queues/turn-queue";
import { Holdings } from "@vidimus/kit/queues/holdings";
import type { PoolRefusals } from "./pool-refusals.ts";
import { type PoolSize, shareOf } from "./pool-size.ts";

/** How long requests begin in one turn of the event loop, once one has begun. */
const turnMsMax = 5;
/** How many waiting requests begin in a turn: about 5 ms of work. */
const turnRequestsMax = 16;

interface Waiter {
  grant(): void;
}

/**
 * The requests worked on at once. A slot is free again within milliseconds, so one tenant may hold
 * all of them while no other asks, and a request that finds none free waits. A freed slot goes to
 * the next waiting tenant, in turn, that holds less than half, or to the first in turn when all
 * hold more.
 *
 * What arrives on all connections within one turn of the event loop begins within 5 ms, or waits for
 * a later turn, in which tenants take turns: 400 polls of one tenant at once held up every other
 * request for 130 to 230 ms.
 */
export class RequestSlots {
  readonly #size: PoolSize;
  readonly #waitMsMax: number;
  readonly #refusals: PoolRefusals;
  readonly #held = new Holdings();
  readonly #waiting = new TurnQueue<Waiter>();
  #isTurnScheduled = false;
  #turnStartedMs = 0;

  /** @param waitMsMax how long a request may wait for a slot */
  constructor(size: PoolSize, waitMsMax: number, refusals: PoolRefusals) {
    this.#size = size;
    this.#waitMsMax = waitMsMax;
    this.#refusals = refusals;
  }

  /**
   * Takes a slot and answers the function that releases it; calling that function again does
   * nothing. When no slot gets free in time, rejects with `exhausted` if the tenant holds its
   * share, else with `unavailable`.
   */
  async take(tenantId: string): Promise<() => void> {
    if (this.#hasRoom() && this.#mayBegin()) this.#held.add(tenantId, 1);
    else await this.#wait(tenantId);
    let holds = true;
    return () => {
      if (!holds) return;
      holds = false;
      this.#held.add(tenantId, -1);
      this.#handOn();
    };
  }

  #hasRoom(): boolean {
    return this.#held.total < this.#size.capacity;
  }

  /** Whether a request may begin in this turn of the event loop. */
  #mayBegin(): boolean {
    const now = performance.now();
    if (!this.#isTurnScheduled) {
      this.#turnStartedMs = now;
      this.#scheduleTurn();
    }
    return this.#waiting.isEmpty && now - this.#turnStartedMs < turnMsMax;
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurnScheduled = false;
    this.#turnStartedMs = performance.now();
    for (let begun = 0; begun < turnRequestsMax && this.#hasRoom() && !this.#waiting.isEmpty; begun += 1) {
      this.#handOn();
    }
    // Without room, each slot that is released is handed on.
    if (this.#hasRoom() && !this.#waiting.isEmpty) this.#scheduleTurn();
  }

  #wait(tenantId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const giveUp = () => {
        this.#waiting.remove(tenantId, waiter);
        reject(this.#refusals.refuse(this.#size, this.#holdsShare(tenantId) ? "share" : "pool"));
      };
      const timer = setTimeout(giveUp, this.#waitMsMax);
      this.#waiting.push(tenantId, waiter);
    });
  }

  #handOn(): void {
    const [first] = this.#waiting.keys();
    const tenantId = this.#waiting.keys().find((waiting) => !this.#holdsShare(waiting)) ?? first;
    if (tenantId === undefined) return;
    const [waiter] = this.#waiting.take(tenantId);
    this.#held.add(tenantId, 1);
    waiter?.grant();
  }

  #holdsShare(tenantId: string): boolean {
    return this.#held.of(tenantId) >= shareOf(this.#size);
  }
}
