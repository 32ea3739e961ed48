import type { Client } from "@connectrpc/connect";
import type { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import { setTimeout as pause } from "node:timers/promises";
import type { KnownTrustList, TrustListStore } from "../store/trust-list-store.ts";

interface TrustListDeps {
  readonly trust: Pick<Client<typeof TrustListService>, "listKeys">;
  readonly trustLists: Pick<TrustListStore, "read" | "keep">;
  readonly log: Pick<Logger, "warn" | "error">;
  /** How often signing is asked for the list. */
  readonly trustListMs: number;
}

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
  readonly #reportOlder: (revisions: { revision: number; newest: number }) => void;
  #known: KnownTrustList | undefined;
  #keyIds: ReadonlySet<string> = new Set();
  /** Whether signing stated an older list than before when it was last asked. */
  #isOlder = false;
  /** When the list was last confirmed, by a clock that never jumps. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  readonly #loop: Promise<void>;

  private constructor(deps: TrustListDeps, kept: KnownTrustList | undefined) {
    this.#deps = deps;
    const { log } = deps;
    this.#reportFault = throttle(reportEveryMs, (error) => log.warn({ err: error }, "the trust list is not known"));
    this.#reportOlder = throttle(reportEveryMs, (revisions) =>
      log.error({ alarm: "trust_list", ...revisions }, "signing states an older trust list than before"),
    );
    if (kept) this.#use(kept);
    this.#loop = this.#readUntilStopped();
  }

  /** Opens it with the list that was kept. Signing need not run. */
  static async open(deps: TrustListDeps): Promise<TrustList> {
    return new TrustList(deps, await deps.trustLists.read());
  }

  /** Whether a key is in the newest list that is known. */
  isListed(keyId: string): boolean {
    return this.#keyIds.has(keyId);
  }

  /** Keys that were listed and are no more; undefined before the first list is known. */
  revoked(): string[] | undefined {
    return this.#known?.everListed.filter((keyId) => !this.#keyIds.has(keyId));
  }

  /**
   * Resolves when all keys are listed. Asks signing when one is not, when signing last stated an
   * older list, and when the list was confirmed longer ago than `ageMsMax`.
   *
   * @throws DomainError `unavailable` when one is not listed; whatever asking throws
   */
  async require(keyIds: readonly string[], ageMsMax = Number.POSITIVE_INFINITY): Promise<void> {
    const isOld = performance.now() - this.#readAt > ageMsMax;
    if (isOld || this.#isOlder || !keyIds.every((keyId) => this.isListed(keyId))) await this.#read();
    const unlisted = keyIds.find((keyId) => !this.isListed(keyId));
    if (unlisted !== undefined) throw new DomainError("unavailable", `the trust list does not have ${unlisted}`);
  }

  #use(list: KnownTrustList): void {
    this.#known = list;
    this.#keyIds = new Set(list.keyIds);
  }

  /** Calls at the same time share a look. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const askedAt = performance.now();
    const { signal } = this.#stop;
    const { keys, revision: stated } = await this.#deps.trust.listKeys({}, { signal });
    const revision = Number(stated);
    if (!this.#known || revision > this.#known.revision) {
      // Kept before it is used: after a restart no older one may be.
      this.#use(await this.#deps.trustLists.keep({ revision, keyIds: keys.map(({ keyId }) => keyId) }));
    }
    const newest = this.#known?.revision ?? revision;
    this.#isOlder = revision < newest;
    if (this.#isOlder) {
      this.#reportOlder({ revision, newest });
      throw new DomainError("unavailable", "signing states an older trust list than before");
    }
    this.#readAt = askedAt;
  }

  async #readUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#read().catch((error: unknown) => {
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
