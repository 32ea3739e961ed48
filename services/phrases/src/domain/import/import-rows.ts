import { DomainError } from "@vidimus/kit/errors";

/** Most phrases in one import. */
export const importRowsMax = 50_000;

/** Largest import, in bytes. */
export const importBytesMax = 10 * 1024 * 1024;

/** Rows of an import, not yet known to be phrases. */
export interface ImportRows {
  readonly rows: readonly unknown[];
  /** Line on which a row begins, from 1, where the text is one of lines. */
  lineOf?(position: number): number;
}

/** A refusal of the import as a whole. */
export function refusedImport(message: string): DomainError {
  return new DomainError("invalid", `nothing was imported: ${message}`);
}
