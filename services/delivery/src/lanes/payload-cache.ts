import { LRUCache } from "lru-cache";
import { movingMean } from "../domain/moving-mean.ts";
import { type Payload, type Reference, snapshotKey } from "../domain/payload.ts";
import type { FreshTenants } from "./fresh-tenants.ts";
import { createPayloadMaker, type MakePayload, type PayloadMakerDeps } from "./payload-maker.ts";

/** The payload of a snapshot, and the number of its deliveries that will need it. */
export interface StoredPayload {
  readonly reference: Reference;
  readonly payload: Payload;
  readonly uses: number;
}

export interface PayloadCache {
  put(stored: StoredPayload): void;
  /** Notes that a delivery has ended. After `uses` such calls, the payload of `put` is dropped. */
  noteEnded(reference: Reference): void;
  /** Starts making the payloads that are not cached. */
  prefetch(references: readonly Reference[]): void;
  /**
   * Returns the payload; undefined when documents or signing have none. Rejects when one of them is
   * unavailable.
   *
   * @param next the snapshots that the caller will ask for next; when the payload must be made, the
   * payloads of the first 63 are begun with it
   */
  get(reference: Reference, next?: readonly Reference[]): Promise<Payload | undefined>;
  /** Mean size of the last bodies, in bytes. */
  meanBytes(): number;
}

interface PayloadCacheDeps extends PayloadMakerDeps {
  /** Whether the trust list has a key; a cached payload of another key is made again. */
  readonly isListed: (keyId: string) => boolean;
}

const cacheBytesMax = 40 * 1024 * 1024;
/**
 * A cached payload is used no longer than this, because its key may have been revoked while signing
 * could not be asked for the trust list.
 */
const cacheMs = 60_000;
/** At most this many of the payloads that follow the requested one are begun together with it. */
const nextMax = 63;
/** A new body weighs 1 / `meanOf` in the mean size. */
const meanOf = 64;

/** A payload, and the number of deliveries that still need it. */
interface Kept {
  readonly payload: Payload;
  uses: number;
}

/**
 * Caches the newest payloads, up to 40 MiB; those of `put` until their deliveries have ended.
 * Others are made again, many at once, from documents' bytes and signing's signature; signing
 * returns the current signature, or a new one when its key was revoked.
 */
export function createPayloadCache(deps: PayloadCacheDeps, fresh: FreshTenants, signal: AbortSignal): PayloadCache {
  const cache = new LRUCache<string, Kept>({ maxSize: cacheBytesMax, sizeCalculation: sizeOf, ttl: cacheMs });
  const make = createPayloadMaker(deps, fresh, signal);
  // `peek` keeps the order of insertion, so that the payloads that came first are dropped first:
  // those that still wait to be sent mostly came later.
  const known = (reference: Reference) => {
    const payload = cache.peek(snapshotKey(reference))?.payload;
    return payload && deps.isListed(payload.keyId) ? payload : undefined;
  };
  let meanBytes: number | undefined;

  function keep({ reference, payload, uses }: StoredPayload): void {
    cache.set(snapshotKey(reference), { payload, uses });
    meanBytes = movingMean(meanBytes, payload.body.byteLength, meanOf);
  }

  const begin = onceAtATime(async (reference) => {
    const payload = await make(reference);
    // The number of uses is unknown, because lanes of other endpoints may send the same payload
    // later.
    if (payload) keep({ reference, payload, uses: Number.POSITIVE_INFINITY });
    return payload;
  });

  function prefetch(references: readonly Reference[]): void {
    // A failed payload is made again when it is asked for.
    for (const each of references) if (!known(each)) begin(each).catch(() => {});
  }
  return {
    put(stored) {
      fresh.note(stored.reference.tenantId);
      keep(stored);
    },
    noteEnded(reference) {
      const key = snapshotKey(reference);
      const kept = cache.peek(key);
      if (!kept) return;
      kept.uses -= 1;
      if (kept.uses <= 0) cache.delete(key);
    },
    prefetch,
    async get(reference, next = []) {
      const payload = known(reference);
      if (payload) return payload;
      const asked = begin(reference);
      prefetch(next.slice(0, nextMax));
      return asked;
    },
    meanBytes: () => meanBytes ?? 0,
  };
}

function onceAtATime(make: MakePayload): MakePayload {
  const underway = new Map<string, Promise<Payload | undefined>>();
  return (reference) => {
    const key = snapshotKey(reference);
    const begun = underway.get(key);
    if (begun) return begun;
    const made = make(reference).finally(() => underway.delete(key));
    underway.set(key, made);
    return made;
  };
}

function sizeOf({ payload: { body } }: Kept): number {
  return body.byteLength + 512;
}
