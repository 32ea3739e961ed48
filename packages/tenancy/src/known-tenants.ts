import { DomainError } from "@vidimus/kit/errors";
import { tenantIdPattern } from "@vidimus/kit/ids";
import { sleep } from "@vidimus/kit/service/sleep";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { throttle } from "@vidimus/kit/telemetry/throttle";

export interface KnownTenant {
  readonly tenantId: string;
  readonly disabled: boolean;
}

interface KnownTenantsOptions {
  /** Reads the whole list from the gateway. */
  readonly pull: (signal: AbortSignal) => Promise<readonly KnownTenant[]>;
  readonly log: Logger;
  /** Time between the starts of two regular pulls; 5 s by default. */
  readonly everyMs?: number;
  /** Longest time of one pull, including its repeats; 3 s by default. */
  readonly pullMs?: number;
}

const retryMs = 100;
const failureLogMs = 60_000;

/**
 * The tenants of the platform, in memory. The whole list is pulled every few seconds, and also when
 * a request names an unlisted tenant, so that a new tenant is known at once. While pulls fail the
 * last list stays in use, and an unlisted tenant gets `unavailable`, because it may be new.
 */
export class KnownTenants implements Disposable {
  readonly #options: KnownTenantsOptions;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #logFailure: (error: unknown) => void;
  #tenants: ReadonlyMap<string, KnownTenant> | undefined;
  #pulling: Promise<boolean> | undefined;

  constructor(options: KnownTenantsOptions) {
    this.#options = options;
    this.#logFailure = throttle<unknown>(failureLogMs, (error, suppressed) =>
      options.log.warn({ err: error, suppressed }, "the list of tenants cannot be read, the last one stays"),
    );
    this.#timer = setInterval(() => void this.#pull(), options.everyMs ?? 5_000).unref();
    void this.#pullFirst();
  }

  /**
   * Resolves when the tenant may be read, or written.
   *
   * @throws DomainError `not_found` for an unknown tenant, `failed_precondition` for a write of a
   * disabled one, `unavailable` when it is not on the list and the list cannot be pulled
   */
  async require(tenantId: string, effect: "read" | "write"): Promise<void> {
    // A malformed id is left to the handler, which says what is wrong with it.
    if (!tenantIdPattern.test(tenantId)) return;
    const tenant = this.#tenants?.get(tenantId) ?? (await this.#findAnew(tenantId));
    if (tenant.disabled && effect === "write") {
      throw new DomainError("failed_precondition", `the tenant "${tenantId}" is disabled`);
    }
  }

  /** Rejects until the list was pulled once. */
  check(): Promise<void> {
    return this.#tenants ? Promise.resolve() : Promise.reject(new Error("the list of tenants was not read yet"));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#stop.abort();
  }

  async #findAnew(tenantId: string): Promise<KnownTenant> {
    // A running pull may have been answered before the tenant was created, so it is followed by
    // another one.
    await this.#pulling;
    const isFresh = this.#tenants?.has(tenantId) || (await this.#pull());
    const tenant = this.#tenants?.get(tenantId);
    if (tenant) return tenant;
    if (isFresh) throw new DomainError("not_found", `there is no tenant "${tenantId}"`);
    const reason = this.#tenants ? `does not have the tenant "${tenantId}"` : "was not read yet";
    throw new DomainError("unavailable", `the list of tenants ${reason}, and cannot be read now`);
  }

  /** Repeats until one pull succeeds, because a service may start before the gateway. */
  async #pullFirst(): Promise<void> {
    while (!this.#tenants && !this.#stop.signal.aborted) await this.#pull();
  }

  /** Concurrent callers share a pull. Resolves false when it failed. */
  #pull(): Promise<boolean> {
    this.#pulling ??= this.#pullOnce().finally(() => (this.#pulling = undefined));
    return this.#pulling;
  }

  async #pullOnce(): Promise<boolean> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#options.pullMs ?? 3_000)]);
    for (;;) {
      try {
        const tenants = await this.#options.pull(signal);
        this.#tenants = new Map(tenants.map((tenant) => [tenant.tenantId, tenant]));
        return true;
      } catch (error) {
        // Pulls fail at once until grpc-js has reconnected to a gateway that was away, so a failed
        // pull is repeated after a pause.
        await sleep(retryMs, signal);
        if (!signal.aborted) continue;
        if (!this.#stop.signal.aborted) this.#logFailure(error);
        return false;
      }
    }
  }
}
