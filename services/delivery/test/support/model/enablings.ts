import { nextAttemptAt, type RetryPlan } from "../../../src/domain/retry-plan.ts";
import type { SendableRow } from "../../../src/store/delivery-rows.ts";

/** A write that enabled or disabled the endpoint, and the turn of the write. */
interface Change {
  readonly turn: number;
  /**
   * The time from which the age of rows counts at the earliest; absent when the endpoint was
   * disabled.
   */
  readonly enabledAt?: Date | undefined;
}

/**
 * Records when the endpoint was disabled and enabled, to check what is journaled of attempts that
 * were in flight then.
 */
export class Enablings {
  readonly retries: RetryPlan = { delaysMs: [5_000], ageMsMax: 12_000 };
  readonly #changes: Change[] = [];

  note(change: Change): void {
    this.#changes.push(change);
  }

  /** The reason why a row must not be given up at its answer; undefined when it may be. */
  whyTooYoung({ createdAt, sequence }: SendableRow, endedAt: Date, answerTurn: number): string | undefined {
    const last = this.#changes.findLast(({ turn }) => turn <= answerTurn);
    if (last && !last.enabledAt) return `${sequence} is given up while its endpoint is disabled`;
    const since = new Date(Math.max(createdAt.getTime(), last?.enabledAt?.getTime() ?? 0));
    const isOld = nextAttemptAt(this.retries, { attempt: 1, since, endedAt }, 1) === undefined;
    return isOld ? undefined : `${sequence} is given up, although its endpoint was enabled`;
  }

  /**
   * Whether the endpoint was enabled between two turns and not disabled since. False when it was
   * enabled twice in the same millisecond, which a script's clock allows: delivery tells enablings
   * apart by their time.
   */
  hasEnabled(after: number, by: number): boolean {
    const last = this.#changes.at(-1);
    if (!last?.enabledAt || last.turn <= after || last.turn > by) return false;
    const before = this.#changes.findLast(({ turn, enabledAt }) => turn <= after && enabledAt);
    return before?.enabledAt?.getTime() !== last.enabledAt.getTime();
  }
}
