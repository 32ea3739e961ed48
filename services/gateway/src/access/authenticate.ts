import type { IncomingMessage } from "node:http";
import type { Caller, KeyVerifier } from "./key-verifier.ts";
import type { Scope } from "./scopes.ts";
import { HttpError } from "../http/errors/http-error.ts";

const credentialsCharsMax = 128;

/**
 * The caller of a request, by its one Authorization header; at once when its key is known. Undefined
 * for every fault of the header or the key.
 */
export function authenticate(
  request: IncomingMessage,
  verifier: Pick<KeyVerifier, "verify">,
): Caller | undefined | Promise<Caller | undefined> {
  const key = presentedKey(request);
  return key === undefined ? undefined : verifier.verify(key);
}

/** The same for every reason, because the reason would help only an attacker. */
export function unauthorized(): HttpError {
  return new HttpError("UNAUTHORIZED", "a valid API key is needed: Authorization: Bearer <API_KEY>", {
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Throws FORBIDDEN, naming the scope, unless the caller has it. */
export function authorise(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new HttpError("FORBIDDEN", `the API key lacks the scope ${scope}`);
}

/**
 * Node keeps the first of several Authorization headers in `headers`; `headersDistinct` shows them
 * all.
 */
function presentedKey(request: IncomingMessage): string | undefined {
  const [credentials, ...more] = request.headersDistinct.authorization ?? [];
  if (credentials === undefined || more.length > 0 || credentials.length > credentialsCharsMax) return undefined;
  return /^bearer +(\S+)$/i.exec(credentials)?.[1];
}
