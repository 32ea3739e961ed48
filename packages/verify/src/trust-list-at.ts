import { type TrustedKey, type TrustList, validAt } from "./trust-list.ts";
import { VerificationError } from "./verification-error.ts";
import { type TrustListPins, type VerifiedTrustList, verifyTrustList } from "./verify-trust-list.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const fetchTimeoutMs = 10_000;

/** `reload` sends `Cache-Control: no-cache`, so that caches on the way do not answer. */
type CacheMode = "default" | "reload";

/** The part of `fetch` that `trustListAt` uses. */
export type FetchTrustList = (
  url: string,
  init: { readonly cache: CacheMode },
) => Promise<{
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

export interface TrustListOptions extends TrustListPins {
  /**
   * Called with each accepted list. Store its `revision`, and without a root its `listKey`, and
   * pass them in these options after a restart.
   */
  onList?: (list: VerifiedTrustList) => void;
  /** Default: the global `fetch`, for at most ten seconds. */
  fetch?: FetchTrustList;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

/**
 * The trust list could not be fetched or was refused, so the delivery cannot be verified. Answer it
 * with 503: it is sent again.
 */
export class TrustListUnavailable extends Error {
  override readonly name = "TrustListUnavailable";
}

/**
 * The trust list of a platform, cached for an hour. Make one and share it between requests.
 *
 * - A `keyId` that is not in the list, or was not valid at the signing time, causes another fetch
 *   past all caches, at most once a minute, so that a flood of unknown ids causes no flood of
 *   requests. Keys are listed in advance: when one has to sign earlier than planned, a newer list
 *   gives it an earlier `validFrom`.
 * - While no newer list can be fetched or accepted, one of up to two hours is used. An older one is
 *   not, because a key in it may have been revoked.
 * - Requests that need the list at the same time share one fetch.
 * - A list that the platform's list key did not sign is refused. The `root` tells which key that
 *   is; without a `root` the list key of the first list is pinned.
 *
 * @param url for example `https://vidimus.example/api/keys`
 */
export function trustListAt(url: string, options: TrustListOptions = {}): TrustList {
  const list = new FetchedTrustList(url, options);
  return { keyFor: (keyId, signedAt) => list.keyFor(keyId, signedAt) };
}

class FetchedTrustList implements TrustList {
  readonly #url: string;
  readonly #fetch: FetchTrustList;
  readonly #now: () => number;
  readonly #onList: ((list: VerifiedTrustList) => void) | undefined;
  #pins: TrustListPins;
  #keys: readonly TrustedKey[] = [];
  #fetchedAt = -Infinity;
  readonly #attemptedAt = { default: -Infinity, reload: -Infinity };
  /** Why the last attempt failed; undefined when it did not. */
  #failure: unknown;
  #fetching: Promise<void> | undefined;

  constructor(url: string, { fetch = fetchInTime, now = Date.now, onList, ...pins }: TrustListOptions) {
    this.#url = url;
    this.#fetch = fetch;
    this.#now = now;
    this.#onList = onList;
    this.#pins = pins;
  }

  async keyFor(keyId: string, signedAt: Date): Promise<TrustedKey | undefined> {
    const isThere = !this.#isOlderThan(hourMs) || (await this.#refresh("default"));
    if (isThere && !this.#holds(keyId, signedAt)) await this.#refresh("reload");
    const key = this.#isOlderThan(2 * hourMs) ? undefined : this.#find(keyId);
    const isSure = this.#failure === undefined || (key !== undefined && validAt(key, signedAt));
    if (isSure) return key;
    const cause = this.#failure;
    const what = cause instanceof VerificationError ? `is refused: ${cause.message}` : "could not be fetched";
    throw new TrustListUnavailable(`the trust list ${this.#url} ${what}`, { cause });
  }

  #find(keyId: string): TrustedKey | undefined {
    return this.#keys.find((key) => key.keyId === keyId);
  }

  #holds(keyId: string, signedAt: Date): boolean {
    const key = this.#find(keyId);
    return key !== undefined && validAt(key, signedAt);
  }

  #isOlderThan(ms: number): boolean {
    return this.#now() - this.#fetchedAt >= ms;
  }

  /**
   * Makes at most one attempt a minute in each mode. Attempts in mode `default` have no such limit
   * while there is no list younger than two hours.
   *
   * @returns whether the last attempt succeeded
   */
  async #refresh(cache: CacheMode): Promise<boolean> {
    const isRecent = this.#now() - this.#attemptedAt[cache] < minuteMs;
    const isTooSoon = isRecent && (cache === "reload" || !this.#isOlderThan(2 * hourMs));
    if (!isTooSoon) this.#fetching ??= this.#attempt(cache).finally(() => (this.#fetching = undefined));
    await this.#fetching;
    return this.#failure === undefined;
  }

  async #attempt(cache: CacheMode): Promise<void> {
    const now = this.#now();
    this.#attemptedAt[cache] = now;
    try {
      const list = await this.#fetchList(cache, now);
      this.#keys = list.keys;
      this.#pins = { ...this.#pins, revision: list.revision, listKey: list.listKey };
      this.#onList?.(list);
      this.#fetchedAt = now;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
  }

  async #fetchList(cache: CacheMode, now: number): Promise<VerifiedTrustList> {
    const answer = await this.#fetch(this.#url, { cache });
    if (!answer.ok) throw new Error(`it was answered with ${answer.status}`);
    const [statement, signature] = ["statement", "signature"].map((name) =>
      answer.headers.get(`vidimus-trust-${name}`),
    );
    const stated = { body: await answer.text(), statement: statement ?? null, signature: signature ?? null };
    return verifyTrustList(stated, this.#pins, now);
  }
}

const fetchInTime: FetchTrustList = (url, { cache }) =>
  fetch(url, { cache, signal: AbortSignal.timeout(fetchTimeoutMs) });
