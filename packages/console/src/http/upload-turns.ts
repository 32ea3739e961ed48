import { DomainError } from "@vidimus/kit/errors";

/** Most uploads at once. Each holds up to 10 MiB, and as much again while it is sent on. */
const atOnce = 2;
const waitingMax = 8;

/**
 * Limits the uploads in memory. The console does not read an upload that waits for its turn: its
 * bytes wait in the network.
 */
export class UploadTurns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws DomainError `unavailable` when too many are waiting already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= atOnce) await this.#turn();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= waitingMax) {
      throw new DomainError("unavailable", "too many files are sent to this console at once");
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}
