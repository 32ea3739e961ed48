import { TenantSlots } from "@vidimus/kit/fair/tenant-slots";

/** Most steps at once: while one fetches rows, another one writes the text of its rows. */
const runningMax = 2;
/**
 * Most steps of one tenant at once, so that a step of a second tenant never waits until a step of
 * the first one ends.
 */
const tenantRunningMax = 1;

/**
 * Longest duration that counts when the rest after a step is computed. A step that took longer has
 * waited for its cursor, and used the event loop for less time than it took.
 */
const stepMsCounted = 20;
/** Longest rest, as a multiple of the step before it. */
const restFactorMax = 4;

/**
 * Runs the steps of exports, a few milliseconds each. Two run at a time, each of another tenant,
 * and tenants with waiting steps take turns.
 *
 * A tenant with more than two exports rests after each step, for up to four times the step's
 * duration. Many exports of a tenant then leave four fifths of the time to other calls, which need
 * several turns of the event loop each, while one or two exports run without a rest. The rest does
 * not delay exports of other tenants.
 */
export class ExportTurns {
  readonly #slots = new TenantSlots({ capacity: runningMax, share: tenantRunningMax });

  /**
   * Runs a step when its turn comes. Rejects with the signal's reason when the signal aborts first.
   */
  async run<T>(tenantId: string, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    const taken = this.#slots.take(tenantId, signal);
    const slot = taken instanceof Promise ? await taken : taken;
    const started = performance.now();
    try {
      return await step();
    } finally {
      const stepMs = Math.min(performance.now() - started, stepMsCounted);
      slot.release(stepMs * this.#restFactor(tenantId));
    }
  }

  /**
   * Two exports of a tenant alternate, so one of them waits at the end of each step and is not
   * counted.
   */
  #restFactor(tenantId: string): number {
    return Math.max(0, Math.min(this.#slots.waitingOf(tenantId) - 1, restFactorMax));
  }
}
