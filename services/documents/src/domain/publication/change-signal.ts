/** Something may have changed, the time is over, or nobody will be told any more. */
export type Wakening = "signalled" | "elapsed" | "closed";

/** Listens for a tenant's signals from the moment it was made until it is disposed. */
export interface ChangeListener extends Disposable {
  /** Resolves at once when there was a signal already. */
  within(ms: number, signal: AbortSignal): Promise<Wakening>;
}

/** Wakes whoever waits for a tenant's changes. It says when to look, never what there is to see. */
export class ChangeSignal {
  readonly #listeners = new Map<string, Set<Listener>>();
  #closed = false;

  /** Wakes everybody who waits for the tenant. */
  notify(tenantId: string): void {
    this.#listeners.get(tenantId)?.forEach((listener) => listener.wake("signalled"));
  }

  /** Wakes everybody for good, so that calls that wait can be answered before the service stops. */
  close(): void {
    this.#closed = true;
    for (const listeners of this.#listeners.values()) listeners.forEach((listener) => listener.wake("closed"));
  }

  /** Listens to a tenant. */
  listen(tenantId: string): ChangeListener {
    const listeners = this.#listeners.get(tenantId) ?? new Set();
    const listener = new Listener(() => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(tenantId);
    });
    listeners.add(listener);
    this.#listeners.set(tenantId, listeners);
    if (this.#closed) listener.wake("closed");
    return listener;
  }
}

class Listener implements ChangeListener {
  readonly #woken = Promise.withResolvers<Wakening>();
  readonly #onDispose: () => void;

  constructor(onDispose: () => void) {
    this.#onDispose = onDispose;
  }

  wake(wakening: Wakening): void {
    this.#woken.resolve(wakening);
  }

  async within(ms: number, signal: AbortSignal): Promise<Wakening> {
    const elapse = () => this.wake("elapsed");
    const timer = setTimeout(elapse, ms);
    signal.addEventListener("abort", elapse);
    try {
      return signal.aborted ? "elapsed" : await this.#woken.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", elapse);
    }
  }

  [Symbol.dispose](): void {
    this.#onDispose();
  }
}
