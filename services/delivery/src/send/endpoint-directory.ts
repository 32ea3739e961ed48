import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import type { Endpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";

/** How long an attempt may rely on an endpoint that another process has changed, in milliseconds. */
const cacheMs = 500;

/** Looks endpoints up for attempts. */
export interface EndpointDirectory {
  /** The endpoint; undefined when it was deleted. */
  find(endpointId: string): Promise<Endpoint | undefined>;
  /** Remembers an endpoint that was just read. */
  put(endpoint: Endpoint): void;
  /** Forgets what was remembered of an endpoint. */
  forget(endpointId: string): void;
}

/** A directory that remembers an endpoint for half a second, and asks for many at once. */
export function createEndpointDirectory(endpoints: Pick<EndpointStore, "findMany">): EndpointDirectory {
  const cache = new LRUCache<string, Endpoint>({ max: 10_000, ttl: cacheMs });
  const read = createBatcher<string, Endpoint | undefined>({
    itemsMax: 256,
    run: async (endpointIds) => {
      const found = new Map(
        (await endpoints.findMany([...new Set(endpointIds)])).map((each) => [each.endpointId, each]),
      );
      return endpointIds.map((endpointId) => found.get(endpointId));
    },
  });
  return {
    async find(endpointId) {
      const known = cache.get(endpointId);
      if (known) return known;
      const found = await read(endpointId);
      if (found) cache.set(endpointId, found);
      return found;
    },
    put: (endpoint) => void cache.set(endpoint.endpointId, endpoint),
    forget: (endpointId) => void cache.delete(endpointId),
  };
}
