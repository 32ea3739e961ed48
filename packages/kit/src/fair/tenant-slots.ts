import { Holdings } from "./holdings.ts";
import { TurnQueue } from "./turn-queue.ts";

interface TenantSlotsOptions {
  readonly capacity: number;
  /** Most slots that one tenant holds, those that rest included; see `mayExceed`. */
  readonly share: number;
  /**
   * Whether a tenant may take more than its share while no tenant below its share waits. Meant for
   * slots that are held for milliseconds, because a tenant that comes later waits for a release.
   */
  readonly mayExceed?: boolean;
  /**
   * Whether a tenant goes behind all waiting tenants also when it releases a slot, not only when it
   * gets one. Without it a tenant that holds its share stays in front while the others get slots
   * and go behind it, so it gets again the slot that it releases.
   */
  readonly turnEndsLate?: boolean;
  readonly wait?: {
    readonly msMax: number;
    /**
     * Makes the error of a refusal: `share` when the tenant holds its share, else `pool`, because
     * all slots are in use.
     */
    refuse(why: "share" | "pool", tenantId: string): Error;
  };
}

/** A slot that is in use until it is released or disposed; a second release has no effect. */
export interface Slot extends Disposable {
  /**
   * Releases the slot. It is free at once, and counts towards its own tenant's share for `restMs`
   * more.
   */
  release(restMs: number): void;
}

/**
 * Slots that tenants share. A caller waits when no slot is free, or when its tenant holds its share
 * and may not exceed it. A released slot goes to the next waiting tenant below its share; when all
 * waiting tenants are at their share and may exceed it, to the first of them.
 */
export class TenantSlots {
  readonly #options: TenantSlotsOptions;
  /** How many slots of each tenant are in use or rest. */
  readonly #held = new Holdings();
  readonly #waiting = new TurnQueue<(slot: Slot) => void>();
  #inUse = 0;

  constructor(options: TenantSlotsOptions) {
    this.#options = options;
  }

  waitingOf(tenantId: string): number {
    return this.#waiting.countOf(tenantId);
  }

  /**
   * Takes a slot, or waits for one. Rejects with the signal's reason when the signal aborts first,
   * and with the error of `wait.refuse` when the caller got no slot within `wait.msMax`.
   */
  take(tenantId: string, signal?: AbortSignal): Slot | Promise<Slot> {
    const { mayExceed = false } = this.#options;
    const isFree = this.#inUse < this.#options.capacity && (mayExceed || !this.#holdsShare(tenantId));
    return isFree ? this.#open(tenantId) : this.#wait(tenantId, signal);
  }

  #open(tenantId: string): Slot {
    this.#inUse += 1;
    this.#held.add(tenantId, 1);
    let isHeld = true;
    const release = (restMs: number) => {
      if (!isHeld) return;
      isHeld = false;
      this.#inUse -= 1;
      if (this.#options.turnEndsLate) this.#waiting.endTurn(tenantId);
      const giveShare = () => {
        this.#held.add(tenantId, -1);
        this.#handOn();
      };
      if (restMs === 0) return giveShare();
      setTimeout(giveShare, restMs);
      this.#handOn();
    };
    return { release, [Symbol.dispose]: () => release(0) };
  }

  async #wait(tenantId: string, signal?: AbortSignal): Promise<Slot> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const leave = (reason: unknown) => {
      this.#waiting.remove(tenantId, resolve);
      reject(reason);
    };
    const cancel = () => leave(signal?.reason);
    const { wait } = this.#options;
    const giveUp = () => leave(wait?.refuse(this.#holdsShare(tenantId) ? "share" : "pool", tenantId));
    const timer = wait && setTimeout(giveUp, wait.msMax);
    signal?.addEventListener("abort", cancel, { once: true });
    this.#waiting.push(tenantId, resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  #handOn(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const slot = this.#open(next);
      for (const start of this.#waiting.take(next)) start(slot);
    }
  }

  /** The tenant that gets the next slot; undefined when none may have one. */
  #next(): string | undefined {
    if (this.#inUse >= this.#options.capacity) return undefined;
    const next = this.#waiting.keys().find((tenantId) => !this.#holdsShare(tenantId));
    return next ?? (this.#options.mayExceed ? this.#waiting.keys().next().value : undefined);
  }

  #holdsShare(tenantId: string): boolean {
    return this.#held.of(tenantId) >= this.#options.share;
  }
}
