import type { EventBus } from "@vidimus/kit/event-bus";
import type { Eviction, KeyVerifier } from "./domain/key-verifier.ts";

const subject = "vidimus.access.evict";

/** Tells this gateway and all others to forget what they hold of a key or a tenant. */
export type Evict = (eviction: Eviction) => void;

/**
 * Shares evictions over the bus. A gateway that is cut off from it forgets after the positive cache's ten seconds.
 *
 * @returns a function that evicts here at once and tells the others
 */
export function shareEvictions(
  bus: Pick<EventBus, "broadcast" | "onBroadcast">,
  verifier: Pick<KeyVerifier, "evict">,
): Evict {
  bus.onBroadcast(subject, (data) => {
    const eviction = fromWire(data);
    if (eviction) verifier.evict(eviction);
  });
  return (eviction) => {
    verifier.evict(eviction);
    bus.broadcast(subject, Buffer.from(JSON.stringify(eviction)));
  };
}

function fromWire(data: Uint8Array): Eviction | undefined {
  const [, name, value] = /^\{"(prefix|tenantId)":"(\w+)"\}$/.exec(Buffer.from(data).toString()) ?? [];
  if (value === undefined) return undefined;
  return name === "prefix" ? { prefix: value } : { tenantId: value };
}
