import { type Collection, MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";

const everyMs = 100;

/**
 * Writes to mongod, directly and as durably as the services do, with a pause of 100 ms after each
 * write, and records how long each took. A long one shows that other work has held up the disk, and
 * with it every service's writes.
 */
export class WriteWatch implements AsyncDisposable {
  readonly #client: MongoClient;
  readonly #rows: Collection;
  readonly #writes: { readonly sentMs: number; readonly tookMs: number }[] = [];
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(mongoUrl: string, database: string) {
    this.#client = new MongoClient(mongoUrl);
    this.#rows = this.#client.db(database).collection("write_watch");
    this.#ended = this.#run();
  }

  /**
   * The longest write, in milliseconds, of those that were still running at `startMs` or began
   * later.
   */
  longestSince(startMs: number): number {
    const since = this.#writes.filter(({ sentMs, tookMs }) => sentMs + tookMs >= startMs);
    return Math.max(0, ...since.map(({ tookMs }) => tookMs));
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const sentMs = performance.now();
      await this.#rows.insertOne({ sentMs }, { writeConcern: { w: "majority", journal: true } });
      this.#writes.push({ sentMs, tookMs: performance.now() - sentMs });
      await pause(everyMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#ended;
    await this.#client.close();
  }
}
