import type { Logger } from "@vidimus/kit/telemetry/log";
import type { ApiKeyStore } from "../store/api-key-store.ts";

const minuteMs = 60_000;

/**
 * Collects which keys were used and stores it once a minute, so that any traffic causes one bulk
 * write per process and minute.
 */
export class LastUsed implements AsyncDisposable {
  readonly #store: Pick<ApiKeyStore, "touch">;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #used = new Map<string, Date>();

  constructor(store: Pick<ApiKeyStore, "touch">, log: Logger, everyMs = minuteMs) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => void this.#flush(), everyMs).unref();
  }

  /** Notes that a key was used now. */
  note(keyId: string): void {
    this.#used.set(keyId, new Date(Math.floor(Date.now() / minuteMs) * minuteMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    await this.#store.touch(used).catch((error: unknown) => {
      this.#log.warn({ err: error, keys: used.size }, "last use was not noted");
    });
  }
}
