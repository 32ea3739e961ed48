import { type Html, html } from "../../markup/html.ts";

/** Position of a list's page. Both values are in the URL, with the rest of the query. */
export interface PagePosition {
  /** Token of the service; "" for the first page. */
  readonly pageToken: string;
  /** Number of the first row, from 1. */
  readonly from: number;
}

/**
 * More than the longest page token of a service. The token of a page that follows a phrase of 256
 * four-byte characters has at most 1,424 characters.
 */
const tokenLengthMax = 2_048;

/** Reads the position in a URL. A malformed one counts as that of the first page. */
export function positionOf(query: URLSearchParams): PagePosition {
  const pageToken = query.get("page") ?? "";
  const from = query.get("from") ?? "";
  const isWhole = pageToken !== "" && pageToken.length <= tokenLengthMax && /^[1-9]\d{0,8}$/.test(from);
  return isWhole ? { pageToken, from: Number(from) } : { pageToken: "", from: 1 };
}

export interface ListPage extends PagePosition {
  readonly count: number;
  /** "" on the last page. */
  readonly nextPageToken: string;
}

/**
 * Number or range of the rows: `5 keys, newest first`, `Keys 51 to 100, newest first; there are
 * more`.
 */
export function caption({ from, count, nextPageToken }: ListPage, one: string, many: string, order = ""): string {
  const last = from + count - 1;
  const isWhole = from === 1 && nextPageToken === "";
  const range = isWhole ? `${count} ${count === 1 ? one : many}` : `${many} ${from} to ${last}`;
  const more = nextPageToken === "" ? "" : "; there are more";
  return `${range.charAt(0).toUpperCase()}${range.slice(1)}${order === "" ? "" : `, ${order}`}${more}`;
}

/**
 * Links to the next page and back to the first, with the query's filters; undefined when one page
 * has all rows.
 */
export function pager(url: URL, { from, count, nextPageToken }: ListPage): Html | undefined {
  if (from === 1 && nextPageToken === "") return undefined;
  const first = from > 1 && linkTo(url, {});
  const next = nextPageToken !== "" && linkTo(url, { page: nextPageToken, from: String(from + count) });
  return html`<nav class="pager" aria-label="Pages">
    ${first && html`<a class="button" href="${first}">To the first</a>`}
    ${next && html`<a class="button" href="${next}" rel="next">Next</a>`}
  </nav>`;
}

function linkTo({ pathname, searchParams }: URL, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(searchParams);
  for (const name of ["page", "from", "done"]) query.delete(name);
  for (const [name, value] of Object.entries(parameters)) query.set(name, value);
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}
