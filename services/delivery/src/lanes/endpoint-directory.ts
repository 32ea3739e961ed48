import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Endpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";

/** How long an attempt may rely on an endpoint that another process has changed, in milliseconds. */
const cacheMs = 500;

/** Looks endpoints up for ingest and for attempts. */
export interface EndpointDirectory {
  /** The endpoint, as it was half a second ago at most; undefined when it was deleted. */
  find(endpointId: string): Promise<Endpoint | undefined>;
  /** The endpoint, read anew. */
  findNow(endpointId: string): Promise<Endpoint | undefined>;
  /** Reads the endpoints of tenants, and remembers them. */
  listOf(tenantIds: readonly string[]): Promise<readonly Endpoint[]>;
  /** Forgets what was read of an endpoint until now, and what reads under way will find. */
  forget(endpointId: string): void;
}

/** What a read that began then has found; no endpoint: it was changed then. */
interface Known {
  readonly endpoint?: Endpoint;
  readonly readAt: number;
}

/**
 * A directory that remembers an endpoint for half a second from the beginning of its read, and asks
 * for many at once.
 *
 * @param clock milliseconds, of a clock that does not step
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
