import type { Client } from "@connectrpc/connect";
import type { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import type { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { LRUCache } from "lru-cache";
import { type Payload, type Reference, snapshotKey } from "../domain/payload.ts";
import { pullSnapshots } from "../ingest/pull-snapshots.ts";
import { signSnapshots } from "../ingest/sign-snapshots.ts";

/** Payloads for attempts. */
export interface PayloadCache {
  put(reference: Reference, payload: Payload): void;
  /** The payload; undefined when documents or signing have none. Rejects when one cannot be used. */
  get(reference: Reference): Promise<Payload | undefined>;
}

interface PayloadCacheDeps {
  readonly feed: Pick<Client<typeof SnapshotFeedService>, "getSnapshots">;
  readonly signing: Pick<Client<typeof SigningService>, "signSnapshots">;
  /** Whether the trust list has a key. */
  readonly isListed: (keyId: string) => boolean;
}

const cacheBytesMax = 64 * 1024 * 1024;
/** While signing cannot be asked for the trust list, a payload is sent no longer than this. */
const cacheMs = 60_000;

/**
 * Keeps the newest payloads in memory, up to 64 MiB. The others are made again, many at once, from
 * documents' bytes and signing's signature; signing gives the one that stands, or a new one when
 * its key was revoked.
 */
export function createPayloadCache(deps: PayloadCacheDeps, signal: AbortSignal): PayloadCache {
  const cache = new LRUCache<string, Payload>({ maxSize: cacheBytesMax, sizeCalculation: sizeOf, ttl: cacheMs });
  const make = createBatcher<Reference, Payload | undefined>({
    itemsMax: 64,
    inFlightMax: 2,
    run: async (references) => {
      const made = new Map<string, Payload>();
      for await (const page of pullSnapshots(deps.feed, references, signal)) {
        for (const result of await signSnapshots(deps, page, signal)) {
          if ("payload" in result) made.set(snapshotKey(result.snapshot), result.payload);
        }
      }
      return references.map((reference) => made.get(snapshotKey(reference)));
    },
  });
  const put = (reference: Reference, payload: Payload) => void cache.set(snapshotKey(reference), payload);
  return {
    put,
    async get(reference) {
      const known = cache.get(snapshotKey(reference));
      if (known && deps.isListed(known.keyId)) return known;
      const payload = await make(reference);
      if (payload) put(reference, payload);
      return payload;
    },
  };
}

function sizeOf({ body }: Payload): number {
  return body.byteLength + 512;
}
