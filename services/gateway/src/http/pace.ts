/**
 * A client that sends or reads more slowly is cut off, because it holds memory that other tenants
 * need. Even a bad mobile line is faster.
 */
const bytesPerSecondMin = 16 * 1024;

/** Ten seconds' worth, so that a short gap in a connection does not count as slow. */
const graceBytes = 10 * bytesPerSecondMin;

/**
 * Whether a transfer is fast enough. It starts with credit for ten seconds; time uses credit up and
 * bytes add to it.
 */
export class Pace {
  readonly #creditMax: number;
  #credit = graceBytes;

  /** @param creditMax most credit, in bytes, that a fast stretch can save for a slow one */
  constructor(creditMax: number = graceBytes) {
    this.#creditMax = creditMax;
  }

  /** Notes the bytes that were sent or read within `ms`. False when the credit is overdrawn. */
  keepsUp(bytes: number, ms: number): boolean {
    this.#credit = Math.min(this.#credit + bytes - (bytesPerSecondMin * ms) / 1_000, this.#creditMax);
    return this.#credit >= 0;
  }
}
