import type { DomainError, Violation } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { type Column, dataTable } from "../parts/data-table.ts";
import { sentence } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";

export interface ImportRefusal {
  /** The number of invalid rows, or why the whole file was refused. */
  readonly summary: string;
  /** Whether the file's content breaks a rule; false for a refusal such as of too many imports. */
  readonly isFaulty?: boolean;
  /** The first 20 at most, by line; none when the refusal names no line. */
  readonly faults: readonly RowFault[];
}

interface RowFault {
  /** From 1. */
  readonly line: number;
  /** Name of the column; "" for a fault of the whole row. */
  readonly column: string;
  readonly message: string;
  /** The whole line, as the file has it. */
  readonly text: string;
}

/** Characters of a line in the table; a longer one can be unfolded. */
const shownCharsMax = 300;
/** Most characters of an unfolded line: a row may have 256 KiB, and a page shows 20 faults. */
const unfoldedCharsMax = 2_000;

/** The refusal of an import of `file`; undefined for a failure that gets an error page instead. */
export function importRefusal(error: unknown, file: Uint8Array): ImportRefusal | undefined {
  const known = fromConnectError(error);
  if (!known || !["invalid", "exhausted", "too_large", "conflict"].includes(known.kind)) return undefined;
  return { summary: summaryOf(known), isFaulty: known.kind === "invalid", faults: faultsOf(known.violations, file) };
}

/**
 * The service's message names the first faulty rows after a semicolon. They are cut off, because
 * the page shows them in a table.
 */
function summaryOf({ message, violations }: DomainError): string {
  const [first = message] = violations.length > 0 ? message.split("; ") : [message];
  return sentence(first);
}

function faultsOf(violations: readonly Violation[], file: Uint8Array): RowFault[] {
  const named = violations.filter(({ line }) => line !== undefined);
  if (named.length === 0) return [];
  const lines = Buffer.from(file).toString().split(/\r?\n/);
  return named.map(({ line = 0, pointer, message }) => ({
    line,
    column: pointer.split("/")[2] ?? "",
    message: sentence(message),
    text: lines[line - 1] ?? "",
  }));
}

const columns: readonly Column<RowFault>[] = [
  { label: "Where", cell: ({ line }) => `Line ${line}` },
  { label: "Column", cell: ({ column }) => (column === "" ? "the row" : html`<code>${column}</code>`) },
  { label: "What is wrong", cell: ({ message }) => message },
  { label: "The line", cell: ({ text }) => lineOf(text) },
];

function lineOf(text: string): Html {
  const isCut = text.length > unfoldedCharsMax;
  const whole = html`<code dir="auto">${text.slice(0, unfoldedCharsMax)}</code>${isCut && "… (and more)"}`;
  if (text.length <= shownCharsMax) return whole;
  return html`<code dir="auto">${text.slice(0, shownCharsMax)}…</code>
    <details class="small">
      <summary>${isCut ? "More of the line" : "The whole line"}</summary>
      ${whole}
    </details>`;
}

export function showRefusal({ summary, isFaulty, faults }: ImportRefusal, isCheck = false): Html {
  const caption = faults.length === 1 ? "1 fault" : `${faults.length} faults, by line`;
  return html`<div class="note badnote" role="alert">
      <h2>${isCheck && isFaulty ? "The check found faults" : "This could not be done"}</h2>
      <p>${summary}</p>
    </div>
    ${faults.length > 0 && dataTable({ caption, columns, rows: faults })}`;
}
