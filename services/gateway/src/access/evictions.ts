import type { EventBus } from "@vidimus/kit/nats/event-bus";
import type { Eviction, KeyVerifier } from "./key-verifier.ts";

const subject = "vidimus.access.evict";

/** Drops the cached keys that an eviction names, here at once and on other gateways by the bus. */
export type Evict = (eviction: Eviction) => void;

/**
 * Shares evictions over the event bus. A gateway without a connection to the bus uses its cached
 * keys for up to ten seconds more, or up to a minute while its database does not answer.
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
