import { DomainError } from "@vidimus/kit/errors";

/** A clock that is further from the database's is not signed by. */
const offsetMaxMs = 60_000;

export interface Clocks {
  /** The wall clock of this process. */
  now(): Date;
  /** Milliseconds of a clock that never jumps. */
  elapsedMs(): number;
}

/** What a reading of the database's clock has said. */
interface Reading {
  readonly databaseMs: number;
  /** When, by `elapsedMs`: in the middle of the question. */
  readonly at: number;
  /** The answer may be so much older or younger. */
  readonly spreadMs: number;
}

/**
 * The wall clock of this process, compared with the database's, which all processes share. A step of
 * it is noticed at once, since between two readings a clock that never jumps goes on from the last.
 */
export class CheckedClock {
  readonly #clocks: Clocks;
  #reading: Reading | undefined;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Compares anew. Rejects as `readDatabaseTime` does; the last reading stands then. */
  async compare(readDatabaseTime: () => Promise<Date>): Promise<void> {
    const begun = this.#clocks.elapsedMs();
    const time = await readDatabaseTime();
    const ended = this.#clocks.elapsedMs();
    this.#reading = { databaseMs: time.getTime(), at: (begun + ended) / 2, spreadMs: (ended - begun) / 2 };
  }

  /** How far this clock is ahead of the database's, in milliseconds; undefined before it was compared. */
  offsetMs(): number | undefined {
    const databaseMs = this.#databaseMs();
    return databaseMs === undefined ? undefined : this.#clocks.now().getTime() - databaseMs;
  }

  /** Whether this clock is certainly more than a minute from the database's. */
  get isOff(): boolean {
    return Math.abs(this.offsetMs() ?? 0) - (this.#reading?.spreadMs ?? 0) > offsetMaxMs;
  }

  /** This clock's time; while it is off, the database's. */
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
