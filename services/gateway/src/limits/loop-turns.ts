import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** How long work begins in one turn of the event loop, once some has begun. */
const turnMsMax = 5;
/** How much of what waits begins in a turn, in requests: about 5 ms of work. */
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

  /**
   * Resolves when a piece of work may begin.
   *
   * @param weight how much it is, in requests
   */
  async take(tenantId: string, weight = 1): Promise<void> {
    if (this.#isOpen()) return;
    await new Promise<void>((begin) => this.#waiting.push(tenantId, { weight, begin }));
  }

  #isOpen(): boolean {
    const now = performance.now();
    if (!this.#isScheduled) {
      this.#startedMs = now;
      this.#schedule();
    }
    return this.#waiting.isEmpty && now - this.#startedMs < turnMsMax;
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
