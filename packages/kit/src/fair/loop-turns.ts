import { TurnQueue } from "./turn-queue.ts";

interface LoopTurnsOptions<Item> {
  begin(item: Item): void;
  /** Called at the start of each turn, for the owner to reset what it counts by turn. */
  renew(): void;
  /**
   * Once the items that began in a turn weigh this much, no further one begins in it; an item
   * weighs 1 by default.
   */
  readonly weightMax: number;
  weightOf?(item: Item): number;
  /** Whether the turn is used up before `weightMax` is reached; by default it never is. */
  isFull?(): boolean;
}

/**
 * Begins waiting items in later turns of the event loop, in each turn as many as `weightMax` and
 * `isFull` allow. Keys, such as tenants, alternate.
 */
export class LoopTurns<Item> {
  readonly #options: LoopTurnsOptions<Item>;
  readonly #waiting = new TurnQueue<Item>();
  #isScheduled = false;

  constructor(options: LoopTurnsOptions<Item>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  wait(key: string, item: Item): void {
    this.#waiting.push(key, item);
    this.schedule();
  }

  leave(key: string, item: Item): void {
    this.#waiting.remove(key, item);
  }

  /** @returns false when the next turn was scheduled already */
  schedule(): boolean {
    if (this.#isScheduled) return false;
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
    return true;
  }

  #nextTurn(): void {
    const { begin, renew, weightMax, weightOf } = this.#options;
    this.#isScheduled = false;
    renew();
    let weight = 0;
    while (weight < weightMax && !this.#options.isFull?.()) {
      const item = this.#waiting.peek();
      if (item === undefined) break;
      this.#waiting.shift();
      weight += weightOf?.(item) ?? 1;
      begin(item);
    }
    if (!this.#waiting.isEmpty) this.schedule();
  }
}
