import { CsvRowScanner } from "@vidimus/kit/rows/csv-rows";
import { JsonRowScanner } from "@vidimus/kit/rows/json-rows";
import { RowCounter } from "@vidimus/kit/rows/row-scanner";
import { HttpError } from "../../errors/http-error.ts";
import type { BodyScan } from "../../http/route.ts";

/** Most rows of one import, the same as in phrases. */
export const importRowsMax = 50_000;

/**
 * Counts the rows of an import while it arrives. Blank lines and invalid rows count, too, because
 * rows are charged before they are parsed. Throws INVALID_PAYLOAD at the chunk with row 50,001, so
 * that a flood of tiny rows is never parsed.
 */
export function scanImport(mediaType: string): BodyScan {
  const isCsv = mediaType === "text/csv";
  const headers = isCsv ? 1 : 0;
  const counter = new RowCounter(isCsv ? new CsvRowScanner() : new JsonRowScanner());
  const rows = () => Math.max(0, counter.rows - headers);
  return {
    get rows() {
      return rows();
    },
    add(chunk) {
      counter.add(chunk);
      if (rows() <= importRowsMax) return;
      throw new HttpError("INVALID_PAYLOAD", "nothing was imported: an import has at most 50,000 rows");
    },
  };
}
