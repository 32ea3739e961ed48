import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";

const minuteMs = 60_000;

/** The part of `ApiKeyStore` that `LastUsed` needs. */
interface UseStore {
  touch(used: ReadonlyMap<string, Date>): Promise<void>;
}

/**
 * Collects the times at which keys were used, and stores them once a minute, so that a process
 * makes at most one bulk write a minute.
 */
export class LastUsed implements AsyncDisposable {
  readonly #store: UseStore;
  readonly #log: Logger;
  readonly #flushes: AsyncDisposable;
  #used = new Map<string, Date>();

  constructor(store: UseStore, log: Logger, everyMs = minuteMs) {
    this.#store = store;
    this.#log = log;
    // `#flush` logs its failures itself.
    this.#flushes = repeat(() => this.#flush(), { everyMs, pausesFirst: true, onFailure: () => {} });
  }

  note(keyId: string): void {
    this.#used.set(keyId, new Date(Math.floor(Date.now() / minuteMs) * minuteMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushes[Symbol.asyncDispose]();
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    await this.#store.touch(used).catch((error: unknown) => {
      // The next flush stores these times, or the newer time of a key that was used since.
      this.#used = new Map([...used, ...this.#used]);
      this.#log.warn({ err: error, keys: used.size }, "last use was not noted");
    });
  }
}
