import type { Client } from "@connectrpc/connect";
import type { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { DomainError } from "@vidimus/kit/errors";
import { NewestCopy } from "@vidimus/kit/newest-copy";
import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";
import type { Registry } from "prom-client";
import type { KnownTrustList, TrustListStore } from "../store/trust-list-store.ts";

interface TrustListDeps {
  readonly trust: Pick<Client<typeof TrustListService>, "listKeys">;
  readonly trustLists: Pick<TrustListStore, "read" | "keep">;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly registry: Registry;
  /** Interval at which signing is asked for the list. */
  readonly trustListMs: number;
}

type StatedList = Pick<KnownTrustList, "revision" | "keyIds">;

/**
 * While signing does not answer, every request for the list fails alike, so the log has one line a
 * minute.
 */
const reportEveryMs = 60_000;

/**
 * The trust list with which receivers verify. Delivery uses no signature of an unlisted key, which
 * was revoked or is not signing's. The newest list is kept across restarts, and while signing
 * states an older one, every signature that it returns is refused: otherwise an old key ring that
 * was restored could sign with a revoked key again.
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
  #looks: AsyncDisposable | undefined;

  private constructor(deps: TrustListDeps) {
    this.#deps = deps;
    const { log, registry, trustLists: keeper } = deps;
    this.#reportFault = throttle(reportEveryMs, (error) => log.warn({ err: error }, "the trust list is not known"));
    const ask = () => this.#ask();
    this.#newest = new NewestCopy({ name: "trust_list", ask, keeper, keepEveryMs: Infinity, log, registry });
  }

  /** Reads the stored list and begins to ask signing for a newer one. Signing need not run. */
  static async open(deps: TrustListDeps): Promise<TrustList> {
    const list = new TrustList(deps);
    await list.#newest.readKept();
    list.#looks = repeat(() => list.#newest.look(), { everyMs: deps.trustListMs, onFailure: list.#reportFault });
    return list;
  }

  isListed(keyId: string): boolean {
    return this.#keyIds().has(keyId);
  }

  /** Keys that were listed and no longer are; undefined before the first list is known. */
  revoked(): string[] | undefined {
    return this.#newest.copy?.everListed.filter((keyId) => !this.isListed(keyId));
  }

  /**
   * Resolves when all keys are listed. Asks signing when one is not, when signing last stated an
   * older list, and when the list was confirmed longer ago than `ageMsMax`.
   *
   * @throws DomainError `unavailable` when one is not listed, or signing states an older list;
   * errors of the call to signing and of MongoDB
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looks?.[Symbol.asyncDispose]();
  }
}
