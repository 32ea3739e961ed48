import type { RowScanner } from "./row-scanner.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const [openArray, closeArray] = [0x5b, 0x5d];
const [openObject, closeObject] = [0x7b, 0x7d];

/**
 * Finds the elements of a JSON array, or the elements of each array that is a direct member of a
 * JSON object. A row ends before the comma or the bracket that follows it.
 */
export class JsonRowScanner implements RowScanner {
  #inside = false;
  #string = false;
  #escaped = false;
  /** Number of arrays and objects that are open. */
  #depth = 0;
  /** Depth of the rows; -1 outside of an array of rows. */
  #rowDepth = -1;
  #topIsObject = false;

  get inside(): boolean {
    return this.#inside;
  }

  next(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (this.#string) at = this.#skipString(chunk, at);
      else if (this.#step(chunk[at] ?? 0)) return at;
    }
    return -1;
  }

  /** Returns the offset of the string's closing quote, or the chunk's length when there is none. */
  #skipString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quote) {
        this.#string = false;
        return at;
      }
    }
    return chunk.length;
  }

  /** Processes a byte outside of strings. True at a boundary: the next call gets the same byte. */
  #step(byte: number): boolean {
    const isBoundary = this.#depth === this.#rowDepth && this.#isBoundary(byte);
    if (isBoundary) this.#inside = !this.#inside;
    else if (byte === quote) this.#string = true;
    else if (byte === openArray || byte === openObject) this.#open(byte);
    else if (byte === closeArray || byte === closeObject) this.#close();
    return isBoundary;
  }

  #isBoundary(byte: number): boolean {
    const separates = byte === comma || byte === closeArray;
    return this.#inside ? separates : !separates && !isSpace(byte);
  }

  #open(byte: number): void {
    this.#depth += 1;
    if (this.#depth === 1) this.#topIsObject = byte === openObject;
    if (byte === openArray && this.#depth === (this.#topIsObject ? 2 : 1)) this.#rowDepth = this.#depth;
  }

  #close(): void {
    if (this.#depth > 0) this.#depth -= 1;
    if (this.#depth < this.#rowDepth) this.#rowDepth = -1;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
