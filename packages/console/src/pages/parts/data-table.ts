import { type Content, type Html, html } from "../../markup/html.ts";

export interface Column<Row> {
  readonly label: string;
  /** Numbers are aligned at the right, except on narrow pages. */
  readonly isNumber?: true;
  /** Whether only screen readers get the label, as for a column of links. */
  readonly isQuiet?: true;
  cell(row: Row): Content;
}

interface DataTable<Row> {
  /** Number or range of the rows, and their order; for paged lists from `caption` of `pager.ts`. */
  readonly caption: Content;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** On narrow pages each row becomes a block, in which `data-label` labels a cell. */
export function dataTable<Row>({ caption, columns, rows }: DataTable<Row>): Html {
  return html`<div class="sheet">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(
            ({ label, isNumber, isQuiet }) =>
              html`<th scope="col" class="${isNumber ? "n" : ""}">
                ${isQuiet ? html`<span class="hidden">${label}</span>` : label}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map(
                ({ label, isNumber, isQuiet, cell }) =>
                  html`<td data-label="${label}" class="${isNumber ? "n" : isQuiet ? "quiet" : ""}">
                    <div>${cell(row)}</div>
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
