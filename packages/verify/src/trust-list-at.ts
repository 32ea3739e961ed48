import { type TrustedKey, type TrustList, validAt } from "./trust-list.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const fetchTimeoutMs = 10_000;

/** The part of `fetch` that is used. */
export type FetchTrustList = (
  url: string,
) => Promise<{ readonly ok: boolean; readonly status: number; json(): Promise<unknown> }>;

export interface TrustListOptions {
  /** Default: the global `fetch`, for at most ten seconds. */
  fetch?: FetchTrustList;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

/**
 * The trust list could not be fetched, so nothing can be said about a delivery. Answer it with 503:
 * it is sent again.
 */
export class TrustListUnavailable extends Error {
  override readonly name = "TrustListUnavailable";
}

/**
 * The trust list of a platform, kept for an hour. Make one and share it between requests.
 *
 * - A `keyId` that it does not know makes it fetch the list again, at most once a minute: a flood of
 *   unknown ids does not become a flood of requests.
 * - While the platform does not answer, a list of up to two hours is used. An older one is not,
 *   because a key in it may have been revoked.
 * - Requests that need the list at the same time share one fetch.
 *
 * @param url for example `https://vidimus.example/api/keys`
 */
export function trustListAt(url: string, options: TrustListOptions = {}): TrustList {
  const list = new FetchedTrustList(url, options.fetch ?? fetchInTime, options.now ?? Date.now);
  return { keyFor: (keyId, signedAt) => list.keyFor(keyId, signedAt) };
}

class FetchedTrustList implements TrustList {
  readonly #url: string;
  readonly #fetch: FetchTrustList;
  readonly #now: () => number;
  #keys: readonly TrustedKey[] = [];
  #fetchedAt = -Infinity;
  #attemptedAt = -Infinity;
  /** Why the last attempt failed; undefined when it did not. */
  #failure: unknown;
  #fetching: Promise<void> | undefined;

  constructor(url: string, fetch: FetchTrustList, now: () => number) {
    this.#url = url;
    this.#fetch = fetch;
    this.#now = now;
  }

  async keyFor(keyId: string, signedAt: Date): Promise<TrustedKey | undefined> {
    if (this.#isOlderThan(hourMs) || !this.#holds(keyId, signedAt)) await this.#refresh();
    const key = this.#isOlderThan(2 * hourMs) ? undefined : this.#find(keyId);
    const isSure = this.#failure === undefined || (key !== undefined && validAt(key, signedAt));
    if (isSure) return key;
    throw new TrustListUnavailable(`the trust list ${this.#url} could not be fetched`, { cause: this.#failure });
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

  /** Without any list a failed attempt is repeated at once, otherwise after a minute. */
  async #refresh(): Promise<void> {
    const tooSoon = this.#now() - this.#attemptedAt < minuteMs && !this.#isOlderThan(2 * hourMs);
    if (tooSoon && !this.#fetching) return;
    this.#fetching ??= this.#attempt().finally(() => (this.#fetching = undefined));
    await this.#fetching;
  }

  async #attempt(): Promise<void> {
    const now = this.#now();
    this.#attemptedAt = now;
    try {
      this.#keys = await fetchKeys(this.#fetch, this.#url);
      this.#fetchedAt = now;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
  }
}

const fetchInTime: FetchTrustList = (url) => fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs) });

async function fetchKeys(fetch: FetchTrustList, url: string): Promise<readonly TrustedKey[]> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`it was answered with ${answer.status}`);
  const body = await answer.json();
  if (!isTrustList(body)) throw new Error("the answer is no trust list");
  return body.keys;
}

function isTrustList(body: unknown): body is { keys: TrustedKey[] } {
  const keys = typeof body === "object" && body !== null && "keys" in body ? body.keys : undefined;
  return Array.isArray(keys) && keys.every(isTrustedKey);
}

function isTrustedKey(entry: unknown): entry is TrustedKey {
  if (typeof entry !== "object" || entry === null) return false;
  const { keyId, algorithm, publicKey, validFrom, validUntil }: Partial<Record<keyof TrustedKey, unknown>> = entry;
  const texts = [keyId, algorithm, publicKey, validFrom, validUntil === null ? "" : validUntil];
  return texts.every((text) => typeof text === "string");
}
