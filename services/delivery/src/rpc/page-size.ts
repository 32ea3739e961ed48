import { refused } from "./refused.ts";

const [limitDefault, limitMax] = [50, 200];

/** How many rows a page has; 50 when the request says 0. @throws DomainError `invalid` above 200 */
export function requirePageSize(limit: number): number {
  if (limit > limitMax) throw refused("/limit", `must be an integer from 1 to ${limitMax}`);
  return limit === 0 ? limitDefault : limit;
}
