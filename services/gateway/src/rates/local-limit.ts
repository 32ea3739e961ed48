import { LRUCache } from "lru-cache";
import type { Rate } from "./rate.ts";
import type { Verdict } from "./verdict.ts";

/** Most counted keys; above it the count of the least recently used key is dropped. */
const keysMax = 100_000;

/** Counts uses of keys in this process's memory, in windows that begin with a key's first use. */
export class LocalLimit {
  readonly rate: Rate;
  readonly #now: () => number;
  readonly #windows = new LRUCache<string, { used: number; endsAt: number }>({ max: keysMax });

  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.rate = rate;
    this.#now = now;
  }

  take(key: string): Verdict {
    const now = this.#now();
    let window = this.#windows.get(key);
    if (!window || window.endsAt <= now) {
      window = { used: 0, endsAt: now + this.rate.windowMs };
      this.#windows.set(key, window);
    }
    window.used = Math.min(window.used + 1, this.rate.count + 1);
    const remaining = Math.max(0, this.rate.count - window.used);
    return { allowed: window.used <= this.rate.count, remaining, resetMs: window.endsAt - now };
  }
}
