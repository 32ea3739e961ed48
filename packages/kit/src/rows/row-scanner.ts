/**
 * Finds the boundaries of rows in a text that arrives in chunks of any size. Boundaries are exact
 * for well-formed text. For malformed text they may be wrong; the time stays linear.
 */
export interface RowScanner {
  /** True after the beginning of a row, until its end is found. */
  readonly inside: boolean;
  /**
   * Finds the next boundary in a chunk.
   *
   * @param from 0 for a new chunk, else the boundary that the last call returned
   * @returns the offset of a row's first byte or of the byte behind its last one; -1 when the chunk
   * has no further boundary
   */
  next(chunk: Uint8Array, from: number): number;
}

/** Counts the rows of a text that arrives in chunks. A row counts from its first byte. */
export class RowCounter {
  readonly #scanner: RowScanner;
  #rows = 0;

  constructor(scanner: RowScanner) {
    this.#scanner = scanner;
  }

  get rows(): number {
    return this.#rows;
  }

  add(chunk: Uint8Array): void {
    const scanner = this.#scanner;
    for (let at = scanner.next(chunk, 0); at !== -1; at = scanner.next(chunk, at)) if (scanner.inside) this.#rows += 1;
  }
}
