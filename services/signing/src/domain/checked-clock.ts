import { DomainError } from "@vidimus/kit/errors";

/** No snapshot is signed while the clock differs from the database's by more than this. */
const offsetMaxMs = 60_000;

export interface Clocks {
  /** The wall clock of this process. */
  now(): Date;
  /** Milliseconds of a monotonic clock. */
  elapsedMs(): number;
}

interface Reading {
  readonly databaseMs: number;
  /** When `databaseMs` was read, by `elapsedMs`: halfway between request and answer. */
  readonly at: number;
  /** `at` may be wrong by this many milliseconds in either direction. */
  readonly spreadMs: number;
}

/**
 * The wall clock of this process, compared with the database's, which all processes share. A step
 * of the wall clock is noticed at once, because between readings the database's time is continued
 * by a monotonic clock.
 */
export class CheckedClock {
  readonly #clocks: Clocks;
  #reading: Reading | undefined;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /**
   * Reads the database's clock. Rejects as `readDatabaseTime` does; the last reading then stays in
   * use.
   */
  async compare(readDatabaseTime: () => Promise<Date>): Promise<void> {
    const begun = this.#clocks.elapsedMs();
    const time = await readDatabaseTime();
    const ended = this.#clocks.elapsedMs();
    this.#reading = { databaseMs: time.getTime(), at: (begun + ended) / 2, spreadMs: (ended - begun) / 2 };
  }

  /**
   * Milliseconds by which this clock is ahead of the database's; undefined before the first
   * reading.
   */
  offsetMs(): number | undefined {
    const databaseMs = this.#databaseMs();
    return databaseMs === undefined ? undefined : this.#clocks.now().getTime() - databaseMs;
  }

  /** Whether this clock certainly differs from the database's by more than a minute. */
  get isOff(): boolean {
    return Math.abs(this.offsetMs() ?? 0) - (this.#reading?.spreadMs ?? 0) > offsetMaxMs;
  }

  /** The database's time while this clock is off, so that the dates in the ring stay right. */
  now(): Date {
    return this.isOff ? new Date(this.#databaseMs() ?? 0) : this.#clocks.now();
  }

  /** @throws DomainError unavailable while this clock is off */
  require(): void {
    if (!this.isOff) return;
    const seconds = Math.round((this.offsetMs() ?? 0) / 1000);
    const where = seconds > 0 ? `${seconds} s ahead of` : `${-seconds} s behind`;
    throw new DomainError("unavailable", `the clock of this process is ${where} the database's: nothing is signed`);
  }

  #databaseMs(): number | undefined {
    return this.#reading && this.#reading.databaseMs + this.#clocks.elapsedMs() - this.#reading.at;
  }
}
