import { DomainError } from "./errors.ts";
import { decodeOpaqueToken } from "./opaque-token.ts";

const [limitDefault, limitMax] = [50, 200];

/**
 * The number of rows of a page: `limit`, or 50 when `limit` is 0. Throws `invalid` when `limit` is
 * greater than `most`.
 */
export function pageSize(limit: number, most = limitMax): number {
  if (limit <= most) return limit === 0 ? limitDefault : limit;
  throw invalid("/limit", `must be from 1 to ${most}, or 0 for ${limitDefault}`);
}

/**
 * The position that a page token names, as `read` makes it from the token's values; undefined for
 * "", the first page. Throws `invalid` when the token cannot be decoded or `read` returns
 * undefined.
 */
export function pagePosition<Position>(
  token: string,
  read: (values: readonly (string | number)[]) => Position | undefined,
  charactersMax?: number,
): Position | undefined {
  if (token === "") return undefined;
  const values = decodeOpaqueToken(token, charactersMax);
  const position = values && read(values);
  if (position === undefined) throw invalid("/pageToken", "must be one that an earlier page gave");
  return position;
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
