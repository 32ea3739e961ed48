import type { Caller } from "./key-verifier.ts";

/**
 * Actor and role with which the holder of a key calls the services behind the public API; the
 * history of documents shows this actor. The actor is "" for callers of open routes, who have no
 * key.
 */
export function actorOf({ prefix }: Pick<Caller, "prefix">): { actor: string; role: string } {
  return { actor: prefix === "" ? "" : `key:${prefix}`, role: "integrator" };
}
