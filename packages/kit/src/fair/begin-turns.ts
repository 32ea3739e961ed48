import { LoopTurns } from "./loop-turns.ts";

/** Requests begin at once until this time after the first request of a turn of the event loop. */
const turnMsMax = 5;
/**
 * This many requests take about 5 ms. In one turn, requests begin at once only until they announced
 * this much work for later in it, and waiting requests begin until together they weigh this much:
 * each weighs the work that it announced, but at least 1.
 */
const turnWeightMax = 16;

interface Piece {
  readonly weight: number;
  begin(): void;
}

/**
 * Shares the event loop between requests that arrive together. Node hands over in one turn what has
 * arrived on all open connections, and requests that share a database read get its answer in the
 * same turn. Requests begin for 5 ms of a turn; the others wait for later turns, in which tenants
 * alternate.
 */
export class BeginTurns {
  readonly #turns = new LoopTurns<Piece>({
    begin: (piece) => piece.begin(),
    renew: () => {},
    weightMax: turnWeightMax,
    weightOf: ({ weight }) => weight,
  });
  #startedMs = 0;
  /** Work that requests of this turn announced for later in it, in requests. */
  #ahead = 0;

  /**
   * Resolves when a request may begin.
   *
   * @param ahead work that the request does later in the same turn, for example writing its answer,
   * given as the number of requests that cost as much; work that the request does at once is
   * measured and need not be announced
   */
  async take(tenantId: string, ahead = 0): Promise<void> {
    if (this.#isOpen()) {
      this.#ahead += ahead;
      return;
    }
    await new Promise<void>((begin) => this.#turns.wait(tenantId, { weight: Math.max(1, ahead), begin }));
  }

  #isOpen(): boolean {
    const now = performance.now();
    if (this.#turns.schedule()) {
      this.#startedMs = now;
      this.#ahead = 0;
    }
    return this.#turns.isEmpty && now - this.#startedMs < turnMsMax && this.#ahead < turnWeightMax;
  }
}
