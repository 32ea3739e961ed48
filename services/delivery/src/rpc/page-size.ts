import { refused } from "./refused.ts";

const [limitDefault, limitMax] = [50, 200];

/** Rows on a page. @throws DomainError `invalid` */
export function requirePageSize(limit: number): number {
  if (limit > limitMax) throw refused("/limit", `must be an integer from 1 to ${limitMax}`);
  return limit === 0 ? limitDefault : limit;
}
