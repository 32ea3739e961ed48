import type { IncomingMessage } from "node:http";
import type { Caller, KeyVerifier } from "./key-verifier.ts";
import type { Scope } from "./scopes.ts";
import { HttpError } from "../errors/http-error.ts";

const credentialsCharsMax = 128;

/**
 * Finds the caller of a request by its Authorization header; returns a promise only when the key
 * must be looked up, and rejects as `KeyVerifier.verify` does. Undefined for every fault of the
 * header or the key.
 */
export function authenticate(
  request: IncomingMessage,
  verifier: Pick<KeyVerifier, "verify">,
): Caller | undefined | Promise<Caller | undefined> {
  const key = presentedKey(request);
  return key === undefined ? undefined : verifier.verify(key);
}

/**
 * The 401 of a request. It says what is wrong with the header, but not what is wrong with a
 * well-formed key: whether a key is unknown, revoked or expired would help only an attacker.
 */
export function unauthorized(request: IncomingMessage): HttpError {
  return new HttpError("UNAUTHORIZED", faultOf(request.headersDistinct.authorization ?? []), {
    headers: { "www-authenticate": "Bearer" },
  });
}

function faultOf([credentials, ...more]: readonly string[]): string {
  if (credentials === undefined) return `the Authorization header is missing: ${form}`;
  if (more.length > 0) return `the Authorization header is there more than once: ${form}`;
  if (isWellFormed(credentials)) return "the API key is not valid";
  return `the Authorization header is malformed: ${form}`;
}

const form = "Authorization: Bearer <API_KEY>, a key of 65 characters that begins with vk_";

function isWellFormed(credentials: string): boolean {
  const [, key = ""] = /^bearer +(\S+)$/i.exec(credentials) ?? [];
  return credentials.length <= credentialsCharsMax && key.length === 65 && key.startsWith("vk_");
}

/** Throws FORBIDDEN, naming the scope, unless the caller has it. */
export function authorise(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new HttpError("FORBIDDEN", `the API key lacks the scope ${scope}`);
}

/** `headers` would hide that there are several Authorization headers, which is refused. */
function presentedKey(request: IncomingMessage): string | undefined {
  const [credentials, ...more] = request.headersDistinct.authorization ?? [];
  if (credentials === undefined || more.length > 0 || credentials.length > credentialsCharsMax) return undefined;
  return /^bearer +(\S+)$/i.exec(credentials)?.[1];
}
