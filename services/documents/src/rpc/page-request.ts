import { DomainError } from "@vidimus/kit/errors";

/** How many items a list answers: 50 unless said, at most 200. Throws `invalid`. */
export function pageLimit(limit: number): number {
  if (limit > 200) throw new DomainError("invalid", "limit must be from 1 to 200");
  return limit || 50;
}

/** Makes an opaque token of what names a place. */
export function toPageToken(...place: (string | number)[]): string {
  return Buffer.from(place.join(" ")).toString("base64url");
}

/**
 * What a token names, as the groups of `pattern`; undefined for the empty token, which means the beginning. Throws
 * `invalid` for a token that was not made here.
 */
export function fromPageToken(token: string, pattern: RegExp): string[] | undefined {
  if (token === "") return undefined;
  const match = token.length <= 256 ? pattern.exec(Buffer.from(token, "base64url").toString()) : undefined;
  if (!match) throw new DomainError("invalid", "page_token must be one that an earlier page gave");
  return match.slice(1);
}
