import type { Client } from "@connectrpc/connect";
import type { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { DomainError } from "@vidimus/kit/errors";
import { NewestCopy } from "@vidimus/kit/newest-copy";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { setTimeout as pause } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { KnownTrustList, TrustListStore } from "../store/trust-list-store.ts";

interface TrustListDeps {
  readonly trust: Pick<Client<typeof TrustListService>, "listKeys">;
  readonly trustLists: Pick<TrustListStore, "read" | "keep">;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly registry: Registry;
  /** How often signing is asked for the list. */
  readonly trustListMs: number;
}

type StatedList = Pick<KnownTrustList, "revision" | "keyIds">;

/** A signing that is down or has an old ring is found at every look. */
const reportEveryMs = 60_000;

/**
 * The trust list that receivers verify with. Delivery uses no signature of a key that is not in it:
 * the key was revoked, or it never was one of signing's. The newest list is kept over restarts, and
 * while signing states an older one nothing is signed: whoever brought an old key ring back could
 * otherwise have a revoked key sign again.
 */
export class TrustList implements AsyncDisposable {
  readonly #deps: TrustListDeps;
  readonly #stop = new AbortController();
  readonly #reportFault: (error: unknown) => void;
  readonly #newest: NewestCopy<StatedList, KnownTrustList>;
  #listed: { readonly of: KnownTrustList | undefined; readonly keyIds: ReadonlySet<string> } = {
    of: undefined,
    keyIds: new Set(),
  };
  #loop: Promise<void> = Promise.resolve();

  private constructor(deps: TrustListDeps) {
    this.#deps = deps;
    const { log, registry, trustLists: keeper } = deps;
    this.#reportFault = throttle(reportEveryMs, (error) => log.warn({ err: error }, "the trust list is not known"));
    const ask = () => this.#ask();
    this.#newest = new NewestCopy({ name: "trust_list", ask, keeper, keepEveryMs: Infinity, log, registry });
  }

  /** Opens it with the list that was kept. Signing need not run. */
  static async open(deps: TrustListDeps): Promise<TrustList> {
    const list = new TrustList(deps);
    await list.#newest.readKept();
    list.#loop = list.#lookUntilStopped();
    return list;
  }

  /** Whether a key is in the newest list that is known. */
  isListed(keyId: string): boolean {
    return this.#keyIds().has(keyId);
  }

  /** Keys that were listed and are no more; undefined before the first list is known. */
  revoked(): string[] | undefined {
    return this.#newest.copy?.everListed.filter((keyId) => !this.isListed(keyId));
  }

  /**
   * Resolves when all keys are listed. Asks signing when one is not, when signing last stated an
   * older list, and when the list was confirmed longer ago than `ageMsMax`.
   *
   * @throws DomainError `unavailable` when one is not listed; whatever asking throws
   */
  async require(keyIds: readonly string[], ageMsMax = Number.POSITIVE_INFINITY): Promise<void> {
    const newest = this.#newest;
    const isOld = newest.ageMs > ageMsMax;
    if (isOld || newest.isOlder || !keyIds.every((keyId) => this.isListed(keyId))) await newest.look();
    const unlisted = keyIds.find((keyId) => !this.isListed(keyId));
    if (unlisted !== undefined) throw new DomainError("unavailable", `the trust list does not have ${unlisted}`);
  }

  #keyIds(): ReadonlySet<string> {
    const { copy } = this.#newest;
    if (copy !== this.#listed.of) this.#listed = { of: copy, keyIds: new Set(copy?.keyIds) };
    return this.#listed.keyIds;
  }

  async #ask(): Promise<StatedList> {
    const { keys, revision } = await this.#deps.trust.listKeys({}, { signal: this.#stop.signal });
    return { revision: Number(revision), keyIds: keys.map(({ keyId }) => keyId) };
  }

  async #lookUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#newest.look().catch((error: unknown) => {
        if (!signal.aborted) this.#reportFault(error);
      });
      await pause(this.#deps.trustListMs, undefined, { signal }).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }
}
