import { DomainError } from "@vidimus/kit/errors";
import { Holdings } from "@vidimus/kit/queues/holdings";

/**
 * Imports that run at once, each of another tenant. One takes up to 60 MB for what it has parsed.
 */
const runningMax = 2;

/** Bytes of all imports that run or wait, and the share of one tenant. */
const bytesMax = 64 * 1024 * 1024;
const tenantBytesMax = bytesMax / 2;

/**
 * Runs two imports at a time. A tenant's imports run one after the other, and tenants take turns.
 */
export class ImportQueue {
  readonly #running = new Set<string>();
  /** Starts of waiting imports by tenant, in the order of the tenants' turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #bytes = new Holdings();

  /**
   * Runs an import of `bytes` when its turn comes. Rejects with the signal's reason when the signal
   * aborts before.
   *
   * @throws DomainError `exhausted` when the tenant's imports would have more than 32 MiB,
   * `unavailable` when all imports would have more than 64 MiB
   */
  async run<T>(tenantId: string, bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#reserve(tenantId, bytes);
    try {
      await this.#turn(tenantId, signal);
      try {
        return await work();
      } finally {
        this.#running.delete(tenantId);
        this.#toEndOfTurns(tenantId);
        this.#startNext();
      }
    } finally {
      this.#bytes.add(tenantId, -bytes);
    }
  }

  #reserve(tenantId: string, bytes: number): void {
    if (this.#bytes.of(tenantId) + bytes > tenantBytesMax)
      throw new DomainError("exhausted", "too many imports of this tenant at once");
    if (this.#bytes.total + bytes > bytesMax) throw new DomainError("unavailable", "too many imports at once");
    this.#bytes.add(tenantId, bytes);
  }

  #turn(tenantId: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      signal.removeEventListener("abort", cancel);
      resolve();
    };
    const cancel = () => {
      this.#remove(tenantId, start);
      reject(signal.reason as unknown);
    };
    signal.throwIfAborted();
    signal.addEventListener("abort", cancel, { once: true });
    this.#waiting.set(tenantId, [...(this.#waiting.get(tenantId) ?? []), start]);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    if (this.#running.size >= runningMax) return;
    const next = this.#waiting.entries().find(([tenantId]) => !this.#running.has(tenantId));
    const [tenantId, [start] = []] = next ?? [];
    if (tenantId === undefined || !start) return;
    this.#remove(tenantId, start);
    this.#running.add(tenantId);
    start();
  }

  /** Makes the tenant the last to get a turn. */
  #toEndOfTurns(tenantId: string): void {
    const waiting = this.#waiting.get(tenantId);
    if (!waiting) return;
    this.#waiting.delete(tenantId);
    this.#waiting.set(tenantId, waiting);
  }

  #remove(tenantId: string, start: () => void): void {
    const others = this.#waiting.get(tenantId)?.filter((waiting) => waiting !== start) ?? [];
    if (others.length > 0) this.#waiting.set(tenantId, others);
    else this.#waiting.delete(tenantId);
  }
}
