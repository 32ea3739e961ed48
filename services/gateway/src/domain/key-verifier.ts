import { DomainError } from "@vidimus/kit/errors";
import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { apiKeyPrefix, hashApiKey } from "./api-key.ts";
import type { KnownKey } from "./key-record.ts";
import type { Scope } from "./scope.ts";

/** Who is behind a request: the tenant and the key that opened the door. */
export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
}

/** What an eviction names: one key, or all keys of a tenant. */
export type Eviction = { readonly prefix: string } | { readonly tenantId: string };

export interface KeyVerifierDeps {
  /** Looks a key up. Rejects with an `unavailable` DomainError while the database cannot answer. */
  find(prefix: string): Promise<KnownKey | undefined>;
  /** Milliseconds; the wall clock unless said. */
  now?: () => number;
}

const freshMs = 10_000;
const negativeMs = 5_000;
const graceMs = 60_000;
/** After a failed look-up nobody asks again for so long: an outage must not make every request wait. */
const pauseMs = 1_000;
const entriesMax = 50_000;
const dummyHash = Buffer.alloc(32);

interface Entry {
  readonly key: KnownKey;
  readonly readAt: number;
}

/** Says who a presented key belongs to, from memory where it can. */
export class KeyVerifier {
  readonly #find: KeyVerifierDeps["find"];
  readonly #now: () => number;
  readonly #known = new LRUCache<string, Entry>({ max: entriesMax });
  readonly #unknown = new LRUCache<string, number>({ max: entriesMax });
  readonly #lookups = new Map<string, Promise<KnownKey | undefined>>();
  #evictions = 0;
  #pausedUntil = 0;

  constructor(deps: KeyVerifierDeps) {
    this.#find = deps.find;
    this.#now = deps.now ?? Date.now;
  }

  /**
   * The caller behind a key; undefined for every text that opens nothing, whatever the reason. Entries are kept by the
   * hash of the whole key, never by prefix, so that a wrong secret finds nothing. Rejects with an `unavailable`
   * DomainError while the database is down and the key was not seen in the last 60 s.
   */
  async verify(presented: string): Promise<Caller | undefined> {
    const prefix = apiKeyPrefix(presented);
    if (prefix === undefined) return undefined;
    const hash = hashApiKey(presented);
    const key = await this.#lookUp(prefix, hash);
    if (!key || !this.#isLive(key)) return undefined;
    return { tenantId: key.tenantId, keyId: key.keyId, prefix, scopes: key.scopes };
  }

  /** Forgets what has changed. Look-ups under way are not kept: they may have read the state before. */
  evict(eviction: Eviction): void {
    this.#evictions += 1;
    this.#lookups.clear();
    for (const [hash, { key }] of this.#known.entries()) {
      const hit = "prefix" in eviction ? key.prefix === eviction.prefix : key.tenantId === eviction.tenantId;
      if (hit) this.#known.delete(hash);
    }
    this.#unknown.clear();
  }

  async #lookUp(prefix: string, hash: Buffer): Promise<KnownKey | undefined> {
    const id = hash.toString("base64");
    const now = this.#now();
    const entry = this.#known.get(id);
    if (entry && now - entry.readAt < freshMs) return entry.key;
    if (now - (this.#unknown.get(id) ?? -negativeMs) < negativeMs) return undefined;
    try {
      return await this.#shared(id, prefix, hash);
    } catch (error) {
      // An answer of "unavailable" may come late: what counts is the age of the entry now.
      if (entry && this.#known.has(id) && this.#now() - entry.readAt < graceMs) return entry.key;
      throw error;
    }
  }

  #shared(id: string, prefix: string, hash: Buffer): Promise<KnownKey | undefined> {
    const running = this.#lookups.get(id);
    if (running) return running;
    if (this.#now() < this.#pausedUntil) return Promise.reject(unavailable());
    const lookup = this.#read(id, prefix, hash).finally(() => {
      if (this.#lookups.get(id) === lookup) this.#lookups.delete(id);
    });
    this.#lookups.set(id, lookup);
    return lookup;
  }

  async #read(id: string, prefix: string, hash: Buffer): Promise<KnownKey | undefined> {
    const readAt = this.#now();
    const evictions = this.#evictions;
    const found = await this.#find(prefix).catch((error: unknown) => {
      this.#pausedUntil = this.#now() + pauseMs;
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

  #isLive({ revokedAt, expiresAt, tenantDisabled }: KnownKey): boolean {
    const now = this.#now();
    const over = (end: Date | undefined) => end !== undefined && end.getTime() <= now;
    return !tenantDisabled && !over(revokedAt) && !over(expiresAt);
  }
}

function unavailable(): DomainError {
  return new DomainError("unavailable", "API keys cannot be checked right now");
}
