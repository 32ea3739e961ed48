import { LRUCache } from "lru-cache";
import { type Payload, type Reference, snapshotKey } from "../domain/payload.ts";
import { FreshTenants } from "./fresh-tenants.ts";
import { createPayloadMaker, type MakePayload, type PayloadMakerDeps } from "./payload-maker.ts";

/** The payload of a snapshot whose deliveries were stored, and how many these are. */
export interface StoredPayload {
  readonly reference: Reference;
  readonly payload: Payload;
  readonly uses: number;
}

/** Payloads for attempts. */
export interface PayloadCache {
  put(stored: StoredPayload): void;
  /** A delivery of a snapshot has ended. After the last one its payload is dropped. */
  noteEnded(reference: Reference): void;
  /** Begins to make those that are not in memory. */
  prefetch(references: readonly Reference[]): void;
  /**
   * The payload; undefined when documents or signing have none. Rejects when one cannot be used.
   *
   * @param next what will be asked for next; it is made in the same calls
   */
  get(reference: Reference, next?: readonly Reference[]): Promise<Payload | undefined>;
  /** Mean size of the last bodies, in bytes. */
  meanBytes(): number;
}

interface PayloadCacheDeps extends PayloadMakerDeps {
  /** Whether the trust list has a key. */
  readonly isListed: (keyId: string) => boolean;
}

const cacheBytesMax = 40 * 1024 * 1024;
/** While signing cannot be asked for the trust list, a payload is sent no longer than this. */
const cacheMs = 60_000;
/** Most payloads that are made beside the one that is asked for. */
const nextMax = 63;
/** How many bodies the mean size is of, about. */
const meanOf = 64;

/** A payload, and how many deliveries of it are still to be made. */
interface Kept {
  readonly payload: Payload;
  uses: number;
}

/**
 * Keeps the newest payloads that are still to be sent, up to 40 MiB. The others are made again, many
 * at once, from documents' bytes and signing's signature; signing gives the one that stands, or a new
 * one when its key was revoked.
 */
export function createPayloadCache(deps: PayloadCacheDeps, signal: AbortSignal): PayloadCache {
  const cache = new LRUCache<string, Kept>({ maxSize: cacheBytesMax, sizeCalculation: sizeOf, ttl: cacheMs });
  const fresh = new FreshTenants();
  const make = createPayloadMaker(deps, fresh, signal);
  // Peeking leaves the order of the insertions as it is. So what was sent already is dropped first,
  // and not what still waits to be sent.
  const known = (reference: Reference) => {
    const payload = cache.peek(snapshotKey(reference))?.payload;
    return payload && deps.isListed(payload.keyId) ? payload : undefined;
  };
  let meanBytes = 0;

  function keep({ reference, payload, uses }: StoredPayload): void {
    cache.set(snapshotKey(reference), { payload, uses });
    const bytes = payload.body.byteLength;
    meanBytes += meanBytes === 0 ? bytes : (bytes - meanBytes) / meanOf;
  }

  const begin = onceAtATime(async (reference) => {
    const payload = await make(reference);
    // A claim has lanes of one endpoint; lanes of others may send the same payload later.
    if (payload) keep({ reference, payload, uses: Number.POSITIVE_INFINITY });
    return payload;
  });

  function prefetch(references: readonly Reference[]): void {
    // What fails is made again when it is asked for.
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
    meanBytes: () => meanBytes,
  };
}

/** Makes what is being made already for others once. */
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
