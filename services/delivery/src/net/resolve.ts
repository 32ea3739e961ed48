import { LRUCache } from "lru-cache";
import { Resolver } from "node:dns/promises";
import { isLocalhost } from "../domain/endpoint-url.ts";

/** Resolves a host to its addresses; rejects when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const cacheMs = 10_000;

/**
 * Asks DNS for A and AAAA records with `dns.resolve*`, because `dns.lookup` runs on the thread
 * pool, which a few slow names would block for the whole process.
 */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cache = new LRUCache<string, Promise<readonly string[]>>({ max: 10_000, ttl: cacheMs });
  return (host) => {
    if (isLocalhost(host)) return Promise.resolve(["127.0.0.1", "::1"]);
    const known = cache.get(host);
    if (known) return known;
    const asked = resolveBoth(resolver, host);
    cache.set(host, asked);
    asked.catch(() => cache.delete(host));
    return asked;
  };
}

async function resolveBoth(resolver: Resolver, host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const [first] = answers;
  if (addresses.length === 0) throw first.status === "rejected" ? first.reason : new Error(`${host} has no address`);
  return addresses;
}
