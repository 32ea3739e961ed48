/** Whether this process accepts traffic. `/readyz` and `grpc.health.v1` both report it. */
export class Readiness {
  #draining = false;
  #failing = false;
  readonly #waiting = new Set<() => void>();

  isReady(): boolean {
    return !this.#draining && !this.#failing;
  }

  /** Records the result of a dependency check. */
  setFailing(failing: boolean): void {
    if (this.#failing === failing) return;
    this.#failing = failing;
    this.#notify();
  }

  /** Makes the process permanently not ready. */
  drain(): void {
    this.#draining = true;
    this.#notify();
  }

  /** Resolves when `isReady` may have changed, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        this.#waiting.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiting.add(finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  #notify(): void {
    for (const finish of this.#waiting) finish();
  }
}
