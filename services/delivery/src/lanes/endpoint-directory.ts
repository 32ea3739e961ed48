import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Endpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";

/**
 * Milliseconds for which an attempt may use an outdated reading of an endpoint that another process
 * has changed.
 */
const cacheMs = 500;

/** Finds endpoints, with a cache of half a second. */
export interface EndpointDirectory {
  /** The endpoint, at most half a second old; undefined when it was deleted. */
  find(endpointId: string): Promise<Endpoint | undefined>;
  /** The endpoint, read from the database. */
  findNow(endpointId: string): Promise<Endpoint | undefined>;
  /** Reads the endpoints of tenants from the database, for later calls of `find`, too. */
  listOf(tenantIds: readonly string[]): Promise<readonly Endpoint[]>;
  /** Drops the cached reading of an endpoint. Reads that have begun before are not cached. */
  forget(endpointId: string): void;
}

/**
 * The last reading of an endpoint. Without `endpoint`, the endpoint was changed at `readAt`, and
 * readings that began earlier are not cached.
 */
interface Known {
  readonly endpoint?: Endpoint;
  readonly readAt: number;
}

/**
 * A directory that caches an endpoint for half a second from the start of its read, and reads many
 * at once.
 *
 * @param clock milliseconds of a monotonic clock
 */
export function createEndpointDirectory(
  endpoints: Pick<EndpointStore, "findMany" | "listOf">,
  clock: () => number = () => performance.now(),
): EndpointDirectory {
  const cache = new LRUCache<string, Known>({ max: 10_000 });
  const note = (endpoint: Endpoint, readAt: number) => {
    const known = cache.peek(endpoint.endpointId);
    if (!known || known.readAt < readAt) cache.set(endpoint.endpointId, { endpoint, readAt });
  };
  const read = createBatcher<string, Endpoint | undefined>({
    itemsMax: 256,
    run: async (endpointIds) => {
      const readAt = clock();
      const found = await endpoints.findMany([...new Set(endpointIds)]);
      for (const endpoint of found) note(endpoint, readAt);
      const byId = new Map(found.map((each) => [each.endpointId, each]));
      return endpointIds.map((endpointId) => byId.get(endpointId));
    },
  });
  return {
    async find(endpointId) {
      const known = cache.get(endpointId);
      return known?.endpoint && clock() - known.readAt < cacheMs ? known.endpoint : read(endpointId);
    },
    findNow: (endpointId) => read(endpointId),
    async listOf(tenantIds) {
      const readAt = clock();
      const found = await endpoints.listOf(tenantIds);
      for (const endpoint of found) note(endpoint, readAt);
      return found;
    },
    forget: (endpointId) => void cache.set(endpointId, { readAt: clock() }),
  };
}
