import { DomainError } from "@vidimus/kit/errors";

const tokenMax = 64;

/**
 * The token of a request, by which a repetition gets the first answer; undefined for "".
 *
 * @throws DomainError `invalid` when it has more than 64 characters
 */
export function readRequestToken(token: string): string | undefined {
  if (token.length > tokenMax) throw new DomainError("invalid", `request_token has at most ${tokenMax} characters`);
  return token === "" ? undefined : token;
}

export function requestTokenReused(): DomainError {
  const message = "request_token named another request of this document: give each request a token of its own";
  return new DomainError("invalid", message, { reason: "request_token_reused" });
}
