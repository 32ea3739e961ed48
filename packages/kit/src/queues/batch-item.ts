export class BatchItem<Item, Result> {
  readonly item: Item;
  readonly bytes: number;
  /** Key by which items of one lane take turns. */
  readonly turn: string;
  readonly arrivedMs = performance.now();
  readonly result: Promise<Result>;
  #isSettled = false;
  readonly #resolve: (result: Result) => void;
  readonly #reject: (reason: unknown) => void;
  #deadline: NodeJS.Timeout | undefined;

  constructor(item: Item, bytes: number, turn: string) {
    this.item = item;
    this.bytes = bytes;
    this.turn = turn;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Calls `onDeadline` after `ms`, unless the item has a result or an error by then. */
  startDeadline(ms: number, onDeadline: () => void): void {
    this.#deadline = setTimeout(onDeadline, ms);
  }

  finish(result: Result | Error): void {
    if (result instanceof Error) return this.fail(result);
    this.#settle();
    this.#resolve(result);
  }

  fail(reason: unknown): void {
    this.#settle();
    this.#reject(reason);
  }

  #settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#deadline);
  }
}
