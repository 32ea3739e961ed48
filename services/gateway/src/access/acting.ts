import type { Caller } from "./key-verifier.ts";

/** How the holder of a key acts on the services behind the public API: history names this actor. */
export function actorOf({ prefix }: Pick<Caller, "prefix">): { actor: string; role: string } {
  return { actor: prefix === "" ? "" : `key:${prefix}`, role: "integrator" };
}
