import { DomainError } from "@vidimus/kit/errors";
import { Holdings } from "@vidimus/kit/fair/holdings";
import { TenantSlots } from "@vidimus/kit/fair/tenant-slots";

/** A running import uses up to 60 MB for its parsed rows and their plan. */
const runningMax = 2;

/** Most bytes of all running and waiting imports. */
const bytesMax = 64 * 1024 * 1024;
const tenantBytesMax = bytesMax / 2;

/**
 * Runs two imports at a time. A tenant's imports run one after the other, and tenants take turns.
 */
export class ImportQueue {
  /** A tenant's turn ends with its import; otherwise the tenant would get the next slot at once. */
  readonly #slots = new TenantSlots({ capacity: runningMax, share: 1, turnEndsLate: true });
  readonly #bytes = new Holdings();

  /**
   * Runs an import of `bytes` when its turn comes. Rejects with the signal's reason when it aborts
   * first.
   *
   * @throws DomainError `exhausted` when the tenant's imports would exceed 32 MiB, `unavailable`
   * when all imports would exceed 64 MiB
   */
  async run<T>(tenantId: string, bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#reserve(tenantId, bytes);
    try {
      signal.throwIfAborted();
      using _slot = await this.#slots.take(tenantId, signal);
      return await work();
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
}
