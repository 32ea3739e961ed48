import { DomainError, type Violation } from "@vidimus/kit/errors";
import { violationsMax, violationText } from "../parse-phrase.ts";

const namedInMessageMax = 3;

/**
 * Counts invalid rows, and keeps the first 20 violations, because they travel in the trailers of a
 * call, whose size is limited.
 */
export class RowFaults {
  readonly #violations: Violation[] = [];
  readonly #named: string[] = [];
  #rows = 0;

  /** Number of invalid rows so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Number of violations that can still be kept. */
  get left(): number {
    return violationsMax - this.#violations.length;
  }

  /**
   * Adds an invalid row: its position from 0, its line (CSV only), and violations with pointers
   * relative to the row.
   */
  add(position: number, line: number | undefined, violations: readonly Violation[]): void {
    this.#rows += 1;
    const row = line === undefined ? `index ${position}` : `line ${line}`;
    for (const violation of violations.slice(0, this.left)) {
      const pointer = `/${position}${violation.pointer}`;
      const { message } = violation;
      this.#violations.push(line === undefined ? { pointer, message } : { pointer, message, line });
      if (this.#named.length <= namedInMessageMax) this.#named.push(`${row}: ${violationText(violation)}`);
    }
  }

  /**
   * @param rowsInAll number of all rows, for the message
   * @throws DomainError `invalid` with the first violations and their rows, when there are any
   */
  check(rowsInAll: number): void {
    if (this.#rows === 0) return;
    const named = this.#named.slice(0, namedInMessageMax);
    const rows = `${this.#rows} of ${rowsInAll} ${rowsInAll === 1 ? "row" : "rows"} ${this.#rows === 1 ? "is" : "are"}`;
    const more = this.#named.length > named.length ? "; …" : "";
    const message = `nothing was imported: ${rows} invalid; ${named.join("; ")}${more}`;
    throw new DomainError("invalid", message, { violations: this.#violations });
  }
}
