/** A record of a CSV file with its line breaks, and the line on which it begins. */
interface CsvRecord {
  readonly text: string;
  readonly at: number;
}

/**
 * Cuts a CSV file into its header and its records without parsing cells: a record ends at the first
 * line end after an even number of quotes. Blank lines, and lines with only separators, which
 * spreadsheets write below a table, stay with the record before them; around the header they are
 * left out, as is a line `sep=;`, which spreadsheets write above it.
 */
export function splitCsv(text: string): { header: string; records: CsvRecord[] } {
  const records: { text: string; at: number }[] = [];
  let open = false;
  let at = 0;
  for (const [line] of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    at += 1;
    const last = records.at(-1);
    const blank = /^[,;]*\r?\n?$/.test(line);
    if (!open && blank && records.length < 2) continue;
    if (!last && /^"?sep=/i.test(line)) continue;
    if (last && (open || blank)) last.text += line;
    else records.push({ text: line, at });
    if (line.split('"').length % 2 === 0) open = !open;
  }
  const [header, ...rest] = records;
  return { header: `${header?.text.trimEnd() ?? ""}\n`, records: rest };
}
