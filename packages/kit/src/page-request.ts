import { DomainError } from "./errors.ts";
import { decodeOpaqueToken } from "./opaque-token.ts";

const [limitDefault, limitMax] = [50, 200];

/** The number of rows of a page. Throws `invalid` unless it is from 1 to 200, or 0 for 50. */
export function pageSize(limit: number): number {
  if (limit <= limitMax) return limit === 0 ? limitDefault : limit;
  throw invalid("/limit", `must be from 1 to ${limitMax}, or 0 for ${limitDefault}`);
}

/**
 * The place that a page token names, as `read` makes it of the token's values; undefined for "",
 * which means the first page. Throws `invalid` for a token that was not made here, for which `read`
 * answers undefined.
 */
export function pagePlace<Place>(
  token: string,
  read: (values: readonly (string | number)[]) => Place | undefined,
  charactersMax?: number,
): Place | undefined {
  if (token === "") return undefined;
  const values = decodeOpaqueToken(token, charactersMax);
  const place = values && read(values);
  if (place === undefined) throw invalid("/pageToken", "must be one that an earlier page gave");
  return place;
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
