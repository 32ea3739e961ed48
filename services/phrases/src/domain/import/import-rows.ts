import { DomainError } from "@vidimus/kit/errors";

/** Most rows of one import, blank lines included. */
export const importRowsMax = 50_000;

export const importBytesMax = 10 * 1024 * 1024;

/**
 * Largest row in bytes. The longest phrase with the most and longest mistakes, every character
 * escaped, has 165 KiB. Parsing a row blocks the event loop, at this size for 10 ms.
 */
const rowBytesMax = 256 * 1024;

/** Bytes that are parsed in one turn of the event loop, in about 1 ms. */
export const turnBytes = 16 * 1024;

/** A row of an import, before it is parsed as a phrase. */
export interface ImportRow {
  readonly value: unknown;
  /** Line on which the row begins, from 1; CSV only. */
  readonly line?: number;
}

/**
 * The rows of an import in order, in batches that are parsed in one turn of the event loop. A batch
 * may be empty.
 */
export type ImportRows = Iterable<readonly ImportRow[]>;

export function refusedImport(message: string): DomainError {
  return new DomainError("invalid", `nothing was imported: ${message}`);
}

/** @throws DomainError `invalid` when an import has too many rows */
export function checkRowCount(rows: number): void {
  if (rows > importRowsMax) throw refusedImport("an import has at most 50,000 rows");
}

/** @throws DomainError `invalid`, naming the row, when a row is too large */
export function checkRowSize(bytes: number, row: string): void {
  if (bytes <= rowBytesMax) return;
  throw refusedImport(`${row}: a row has at most ${rowBytesMax / 1024} KiB; is there a quote that is not closed?`);
}
