/**
 * Why a wait ended: `signalled` by a possible change, `elapsed` when its time was up or its caller
 * left, `closed` by the stop of the service.
 */
type Wakening = "signalled" | "elapsed" | "closed";

/** Collects a tenant's signals from the listener's creation until its disposal. */
interface ChangeListener extends Disposable {
  /** Waits for a signal of the tenant for at most `ms`; resolves at once when one came before. */
  within(ms: number, signal: AbortSignal): Promise<Wakening>;
}

/**
 * Listeners are woken this often without a signal, because signals of other processes go through
 * the broker and can be lost. The listeners of all tenants are woken together, so that one read of
 * the clocks serves them all.
 */
const lookAgainMs = 1_000;

/** Wakes readers that wait for a tenant's changes; they then read the changes themselves. */
export class ChangeSignal {
  readonly #listeners = new Map<string, Set<Listener>>();
  #lookAgain: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * Wakes the tenant's listeners to this type and to all types. When the type is not known, "",
   * wakes all of the tenant's listeners.
   */
  notify(tenantId: string, type: string): void {
    for (const listener of this.#listeners.get(tenantId) ?? []) if (listener.heeds(type)) listener.wake("signalled");
  }

  /**
   * Wakes all current and future listeners, so that waiting calls are answered before the service
   * stops.
   */
  close(): void {
    this.#closed = true;
    this.#wakeAll("closed");
  }

  /** Listens to a type of a tenant, or with "" to every type. */
  listen(tenantId: string, type: string): ChangeListener {
    const listeners = this.#listeners.get(tenantId) ?? new Set();
    const listener = new Listener(type, () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(tenantId);
      if (this.#listeners.size === 0) this.#rest();
    });
    listeners.add(listener);
    this.#listeners.set(tenantId, listeners);
    this.#lookAgain ??= setInterval(() => this.#wakeAll("signalled"), lookAgainMs);
    if (this.#closed) listener.wake("closed");
    return listener;
  }

  #wakeAll(wakening: Wakening): void {
    for (const listeners of this.#listeners.values()) listeners.forEach((listener) => listener.wake(wakening));
  }

  #rest(): void {
    clearInterval(this.#lookAgain);
    this.#lookAgain = undefined;
  }
}

class Listener implements ChangeListener {
  readonly #woken = Promise.withResolvers<Wakening>();
  readonly #type: string;
  readonly #onDispose: () => void;

  constructor(type: string, onDispose: () => void) {
    this.#type = type;
    this.#onDispose = onDispose;
  }

  heeds(type: string): boolean {
    return this.#type === "" || type === "" || this.#type === type;
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
