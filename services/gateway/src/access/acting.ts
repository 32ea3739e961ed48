import type { Caller } from "./key-verifier.ts";

/**
 * Actor and role of calls to services on behalf of a caller; the history of documents shows this
 * actor. It is "" for callers of open routes, who have no key.
 */
export function actorOf({ prefix }: Pick<Caller, "prefix">): { actor: string; role: string } {
  return { actor: prefix === "" ? "" : `key:${prefix}`, role: "integrator" };
}
