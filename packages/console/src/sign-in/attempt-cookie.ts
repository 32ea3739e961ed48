import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import type { CookieChange } from "../http/answer.ts";
import type { SignInAttempt } from "./oidc-provider.ts";

/** Time that a person has to sign in at the issuer. */
const maxAgeSeconds = 600;
const charactersMax = 3_000;

/**
 * Writes an attempt as a cookie, with `/` in place of a path that makes the cookie too long. The
 * cookie is not encrypted: it is useless without the issuer's code, which only this browser gets.
 */
export function attemptCookie({ state, nonce, verifier, maxAge, returnTo }: SignInAttempt): CookieChange {
  const valueWith = (path: string) => encodeOpaqueToken([state, nonce, verifier, maxAge, path]);
  const whole = valueWith(returnTo);
  return { kind: "sign_in", value: whole.length > charactersMax ? valueWith("/") : whole, maxAgeSeconds };
}

/** Reads the attempt from a cookie; undefined for an empty or malformed one. */
export function readAttempt(cookie: string): SignInAttempt | undefined {
  const [state, nonce, verifier, maxAge, returnTo] = decodeOpaqueToken(cookie, charactersMax) ?? [];
  const texts = [state, nonce, verifier, returnTo].every((each) => typeof each === "string" && each !== "");
  if (!texts || typeof maxAge !== "number") return undefined;
  return { state: String(state), nonce: String(nonce), verifier: String(verifier), maxAge, returnTo: String(returnTo) };
}
