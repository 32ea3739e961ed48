import type { RowScanner } from "./row-scanner.ts";

const quote = 0x22;
const lineFeed = 0x0a;

/**
 * Finds the records of a CSV text (RFC 4180). A line feed ends a record when the number of quotes
 * in the record is even. The header and blank lines count as records.
 */
export class CsvRowScanner implements RowScanner {
  #inside = false;
  #quoted = false;

  get inside(): boolean {
    return this.#inside;
  }

  next(chunk: Uint8Array, from: number): number {
    if (from >= chunk.length) return -1;
    if (!this.#inside) {
      this.#inside = true;
      return from;
    }
    let quoted = this.#quoted;
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === quote) quoted = !quoted;
      else if (byte === lineFeed && !quoted) {
        this.#inside = false;
        this.#quoted = false;
        return at + 1;
      }
    }
    this.#quoted = quoted;
    return -1;
  }
}
