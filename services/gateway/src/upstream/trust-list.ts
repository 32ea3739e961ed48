import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { ListKeysResponse, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { withinDeadline } from "@vidimus/kit/deadline";
import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";

/** The trust list as the public API shows it. */
export interface TrustList {
  /** The key that signs new snapshots; null while signing is off. */
  readonly active: string | null;
  readonly keys: readonly {
    readonly keyId: string;
    readonly algorithm: string;
    /** Base64 of SPKI DER. */
    readonly publicKey: string;
    readonly validFrom: string;
    /** Null for the active key. */
    readonly validUntil: string | null;
  }[];
}

/** A list and where it stands among all lists. */
export interface TrustListCopy {
  readonly list: TrustList;
  /** Of the key ring; greater after each change of the list. */
  readonly revision: number;
  /** When signing stated it, in milliseconds since 1970. */
  readonly readAt: number;
}

/** Keeps the newest list over restarts: `store/trust-list-store.ts`. */
interface TrustListKeeper {
  read(): Promise<TrustListCopy | undefined>;
  /** Stores a copy, unless a newer one is stored. */
  keep(copy: TrustListCopy): Promise<void>;
}

/** Answers the trust list, from memory while the copy is fresh. */
export type TrustListCache = () => Promise<TrustList>;

interface TrustListDeps {
  readonly signing: Pick<Client<typeof TrustListService>, "listKeys">;
  readonly keeper: TrustListKeeper;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly now?: () => number;
}

const freshMs = 1_000;
/** While signing does not answer, a copy is served for a day, so that receivers can go on verifying. */
const lastGoodMs = 86_400_000;
const askTimeoutMs = 2_000;
/** With a copy at hand, a request waits no longer than this for a signing that is slow. */
const patienceMs = 250;
/** The database is not needed to answer. */
const keeperTimeoutMs = 1_000;
/** How often the age of an unchanged list is stored. */
const keepEveryMs = 600_000;

/**
 * Keeps the trust list for a second, and makes one call for all requests that come meanwhile. A list
 * that is older than one it has served, also before a restart, is not served: it would list keys that
 * were revoked since.
 */
export function trustListCache(deps: TrustListDeps): TrustListCache {
  const cache = new Cache(deps);
  return () => cache.get();
}

class Cache {
  readonly #deps: TrustListDeps;
  readonly #now: () => number;
  #copy: TrustListCopy | undefined;
  #restored = false;
  /** What the keeper has, as far as this process knows. */
  #kept: Pick<TrustListCopy, "revision" | "readAt"> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<TrustList> | undefined;

  constructor(deps: TrustListDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
  }

  async get(): Promise<TrustList> {
    const served = this.#servable();
    if (served && this.#now() - this.#askedAt < freshMs) return served;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    const asking = this.#asking;
    if (!served) return asking;
    const answered = await withinDeadline(asking, patienceMs).catch(() => true);
    return answered ? asking : served;
  }

  #servable(): TrustList | undefined {
    return this.#copy && this.#now() - this.#copy.readAt <= lastGoodMs ? this.#copy.list : undefined;
  }

  async #ask(): Promise<TrustList> {
    this.#askedAt = this.#now();
    await this.#restore();
    try {
      this.#accept(await this.#deps.signing.listKeys({}, { timeoutMs: askTimeoutMs }));
    } catch (error) {
      const list = this.#servable();
      if (list) return list;
      throw error;
    }
    await this.#keep();
    return this.#copy?.list ?? { active: null, keys: [] };
  }

  #accept(answer: ListKeysResponse): void {
    const revision = Number(answer.revision);
    if (this.#copy && revision < this.#copy.revision) {
      const revisions = { revision, newest: this.#copy.revision };
      this.#deps.log.error({ alarm: "trust_list", ...revisions }, "signing states an older trust list than before");
      throw new DomainError("unavailable", "signing states an older trust list than before");
    }
    this.#copy = { list: fromProto(answer), revision, readAt: this.#now() };
  }

  async #restore(): Promise<void> {
    if (this.#restored) return;
    await this.#tryKeeper("could not read the kept trust list", async () => {
      const kept = await this.#deps.keeper.read();
      this.#restored = true;
      this.#kept = kept;
      if (kept && (!this.#copy || kept.revision > this.#copy.revision)) this.#copy = kept;
    });
  }

  /** Before a newer list is served: after a restart, an older one must not be. */
  async #keep(): Promise<void> {
    const copy = this.#copy;
    if (!copy) return;
    const isKept = copy.revision === this.#kept?.revision && copy.readAt - this.#kept.readAt < keepEveryMs;
    if (isKept) return;
    await this.#tryKeeper("could not keep the trust list", async () => {
      await this.#deps.keeper.keep(copy);
      this.#kept = copy;
    });
  }

  async #tryKeeper(failure: string, act: () => Promise<void>): Promise<void> {
    try {
      await withinDeadline(act(), keeperTimeoutMs);
    } catch (error) {
      this.#deps.log.warn({ err: error }, failure);
    }
  }
}

function fromProto(response: ListKeysResponse): TrustList {
  return {
    active: response.activeKeyId || null,
    keys: response.keys.map(({ keyId, algorithm, publicKey, validFrom, validUntil }) => ({
      keyId,
      algorithm,
      publicKey: Buffer.from(publicKey).toString("base64"),
      validFrom: iso(validFrom) ?? new Date(0).toISOString(),
      validUntil: iso(validUntil),
    })),
  };
}

function iso(stamp: Timestamp | undefined): string | null {
  return stamp ? timestampDate(stamp).toISOString() : null;
}
