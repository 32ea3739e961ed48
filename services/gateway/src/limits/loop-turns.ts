import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** How long work begins in one turn of the event loop, once some has begun. */
const turnMsMax = 5;
/** How much of what waits, or comes later in a turn, begins in it, in requests: about 5 ms of work. */
const turnWeightMax = 16;

/** A piece of work that waits for a turn. */
interface Piece {
  readonly weight: number;
  begin(): void;
}

/**
 * Shares the event loop between what comes at once. Node hands over in one turn what has arrived on
 * all open connections, and those who share a read have their answers at once. Work begins for 5 ms
 * in a turn; the rest waits for later turns, in which tenants take turns.
 */
export class LoopTurns {
  readonly #waiting = new TurnQueue<Piece>();
  #isScheduled = false;
  #startedMs = 0;
  /** What comes later in this turn, in requests. */
  #ahead = 0;

  /**
   * Resolves when a piece of work may begin.
   *
   * @param ahead how much of it comes later in the turn, as an answer that is written when all that
   * is asked for has begun; in requests. What is done at once is measured.
   */
  async take(tenantId: string, ahead = 0): Promise<void> {
    if (this.#isOpen()) {
      this.#ahead += ahead;
      return;
    }
    await new Promise<void>((begin) => this.#waiting.push(tenantId, { weight: Math.max(1, ahead), begin }));
  }

  #isOpen(): boolean {
    const now = performance.now();
    if (!this.#isScheduled) {
      this.#startedMs = now;
      this.#ahead = 0;
      this.#schedule();
    }
    return this.#waiting.isEmpty && now - this.#startedMs < turnMsMax && this.#ahead < turnWeightMax;
  }

  #schedule(): void {
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    for (let weight = 0; weight < turnWeightMax && !this.#waiting.isEmpty;) {
      const piece = this.#waiting.shift();
      weight += piece?.weight ?? 0;
      piece?.begin();
    }
    if (!this.#waiting.isEmpty) this.#schedule();
  }
}
