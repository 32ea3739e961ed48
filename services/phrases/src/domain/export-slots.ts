import { DomainError } from "@vidimus/kit/errors";
import { type Slot, TenantSlots } from "@vidimus/kit/fair/tenant-slots";

/**
 * Most exports that run at once. Each holds a cursor, and up to 1 MiB that its reader has not taken
 * yet, for as long as the reader takes; the gateway cuts its readers off after ten minutes.
 */
const runningMax = 64;
/**
 * Most running exports of one tenant. Eight are enough to use a process fully; 64 delayed every
 * other call by 15 s.
 */
const tenantRunningMax = 8;
/**
 * Exports of usual dictionaries end within this time, so short bursts wait instead of being
 * refused.
 */
const waitMsMax = 1_000;

/** Limits running exports. Exports beyond a limit wait for up to a second; tenants take turns. */
export class ExportSlots {
  readonly #slots = new TenantSlots({
    capacity: runningMax,
    share: tenantRunningMax,
    wait: { msMax: waitMsMax, refuse: refusal },
  });

  /**
   * Takes a slot, which is released by disposal. Rejects with the signal's reason when it aborts
   * first.
   *
   * @throws DomainError when no slot was free within a second: `exhausted` if the tenant has its
   * share of 8, `unavailable` if all 64 are in use
   */
  async take(tenantId: string, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    return this.#slots.take(tenantId, signal);
  }
}

function refusal(why: "share" | "pool"): DomainError {
  if (why === "pool") return new DomainError("unavailable", "Too many exports run at once; retry in 1 s");
  const share = `The tenant's share of the exports at once, ${tenantRunningMax} exports, is in use; retry in 1 s`;
  return new DomainError("exhausted", share);
}
