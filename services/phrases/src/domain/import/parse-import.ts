import type { Violation } from "@vidimus/kit/errors";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parsePhrase } from "../parse-phrase.ts";
import type { ImportRows } from "./import-rows.ts";
import { PackedDrafts } from "./packed-drafts.ts";
import { RowFaults } from "./row-faults.ts";

/** An import whose rows are all valid. */
export interface ParsedImport {
  readonly drafts: PackedDrafts;
  /** Line of each draft, from 1; undefined for JSON. */
  readonly lines: readonly (number | undefined)[];
}

/**
 * Parses every row. With a language, rows of another language are invalid. Lets other calls run
 * after each batch of rows.
 *
 * @throws DomainError `invalid`, with pointers that begin with `/<position>`, when a row is
 * invalid; the signal's reason when it aborts
 */
export async function parseImport(
  rows: ImportRows,
  language: string | undefined,
  signal: AbortSignal,
): Promise<ParsedImport> {
  const drafts = new PackedDrafts();
  const lines: (number | undefined)[] = [];
  const faults = new RowFaults();
  let count = 0;
  for (const few of rows) {
    for (const { value, line } of few) {
      const violations: Violation[] = [];
      const draft = parsePhrase(value, violations, Math.max(1, faults.left));
      if (draft && language !== undefined && draft.language !== language) {
        violations.push({ pointer: "/language", message: `must be ${language}` });
      }
      if (!draft || violations.length > 0) faults.add(count, line, violations);
      else if (faults.rows === 0) {
        drafts.add(draft);
        lines.push(line);
      }
      count += 1;
    }
    await nextTurn();
    signal.throwIfAborted();
  }
  faults.check(count);
  return { drafts, lines };
}
