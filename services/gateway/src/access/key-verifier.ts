import { DomainError } from "@vidimus/kit/errors";
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { apiKeyPrefix, hashApiKey } from "./api-key.ts";
import type { KnownKey } from "./key-record.ts";
import type { Scope } from "./scopes.ts";

/** The tenant and the key of a request; all fields are empty on open routes, which need no key. */
export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
}

/** Which cached keys to drop: the one with a prefix, or all of a tenant. */
export type Eviction = { readonly prefix: string } | { readonly tenantId: string };

interface KeyVerifierDeps {
  /**
   * Looks a key up. While the database does not answer, rejects with an `unavailable` DomainError
   * or the driver's error.
   */
  find(prefix: string): Promise<KnownKey | undefined>;
  /**
   * Milliseconds since 1970, with which the expiry of keys is compared; the wall clock by default.
   */
  now?: () => number;
  /** Monotonic milliseconds, with which the age of cached keys is measured. */
  elapsed?: () => number;
}

const freshMs = 10_000;
const negativeMs = 5_000;
const graceMs = 60_000;
/**
 * How long the database is not asked after a failed look-up. Without this pause requests would wait
 * for the database during a whole outage.
 */
const pauseMs = 1_000;
const entriesMax = 50_000;
const dummyHash = Buffer.alloc(32);

interface Entry {
  readonly key: KnownKey;
  readonly readAt: number;
}

export class KeyVerifier {
  readonly #find: KeyVerifierDeps["find"];
  readonly #now: () => number;
  readonly #elapsed: () => number;
  readonly #known = new LRUCache<string, Entry>({ max: entriesMax });
  readonly #unknown = new LRUCache<string, number>({ max: entriesMax });
  readonly #lookups = new Map<string, Promise<KnownKey | undefined>>();
  #evictions = 0;
  #pausedUntil = 0;

  constructor(deps: KeyVerifierDeps) {
    this.#find = deps.find;
    this.#now = deps.now ?? Date.now;
    this.#elapsed = deps.elapsed ?? (() => performance.now());
  }

  /**
   * The caller of a key; undefined for any text that is not a valid key. Cached keys are found by
   * the hash of the whole key, never by its prefix, so that a wrong secret finds none. Returns no
   * promise when it needs no look-up: for a malformed text, and for a key that was looked up in the
   * last 10 s, or 5 s if it is unknown, unless it was evicted since. Rejects as `find` does while
   * the database is unavailable, unless the key was found in the last 60 s and not evicted since.
   */
  verify(presented: string): Caller | undefined | Promise<Caller | undefined> {
    const prefix = apiKeyPrefix(presented);
    if (prefix === undefined) return undefined;
    const hash = hashApiKey(presented);
    const id = hash.toString("base64");
    const now = this.#elapsed();
    const entry = this.#known.get(id);
    if (entry && now - entry.readAt < freshMs) return this.#callerOf(prefix, entry.key);
    if (now - (this.#unknown.get(id) ?? -negativeMs) < negativeMs) return undefined;
    return this.#lookUp(id, prefix, hash, entry);
  }

  /**
   * Drops the named keys. Running look-ups may have read a key before the change that led to the
   * eviction, so their results are not cached.
   */
  evict(eviction: Eviction): void {
    this.#evictions += 1;
    this.#lookups.clear();
    for (const [hash, { key }] of this.#known.entries()) {
      const hit = "prefix" in eviction ? key.prefix === eviction.prefix : key.tenantId === eviction.tenantId;
      if (hit) this.#known.delete(hash);
    }
    this.#unknown.clear();
  }

  async #lookUp(id: string, prefix: string, hash: Buffer, entry: Entry | undefined): Promise<Caller | undefined> {
    try {
      return this.#callerOf(prefix, await this.#shared(id, prefix, hash));
    } catch (error) {
      // The look-up may have failed late, so the age is measured again.
      if (entry && this.#known.has(id) && this.#elapsed() - entry.readAt < graceMs) {
        return this.#callerOf(prefix, entry.key);
      }
      throw error;
    }
  }

  #shared(id: string, prefix: string, hash: Buffer): Promise<KnownKey | undefined> {
    const running = this.#lookups.get(id);
    if (running) return running;
    if (this.#elapsed() < this.#pausedUntil) return Promise.reject(unavailable());
    const lookup = this.#read(id, prefix, hash).finally(() => {
      if (this.#lookups.get(id) === lookup) this.#lookups.delete(id);
    });
    this.#lookups.set(id, lookup);
    return lookup;
  }

  async #read(id: string, prefix: string, hash: Buffer): Promise<KnownKey | undefined> {
    const readAt = this.#elapsed();
    const evictions = this.#evictions;
    const found = await this.#find(prefix).catch((error: unknown) => {
      this.#pausedUntil = this.#elapsed() + pauseMs;
      throw error;
    });
    const matches = timingSafeEqual(hash, found?.hash ?? dummyHash);
    const key = matches ? found : undefined;
    if (evictions !== this.#evictions) return key;
    if (key) this.#known.set(id, { key, readAt });
    else {
      this.#known.delete(id);
      this.#unknown.set(id, readAt);
    }
    return key;
  }

  #callerOf(prefix: string, key: KnownKey | undefined): Caller | undefined {
    if (!key || !this.#isLive(key)) return undefined;
    return { tenantId: key.tenantId, keyId: key.keyId, prefix, scopes: key.scopes };
  }

  /** A revocation in the future counts, too: the clock of the gateway that revoked may be ahead. */
  #isLive({ revokedAt, expiresAt, tenantDisabled }: KnownKey): boolean {
    const expired = expiresAt !== undefined && expiresAt.getTime() <= this.#now();
    return !tenantDisabled && revokedAt === undefined && !expired;
  }
}

function unavailable(): DomainError {
  return new DomainError("unavailable", "API keys cannot be checked right now");
}
