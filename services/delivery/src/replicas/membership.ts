import { partitionOf } from "@vidimus/contracts/snapshot-subject";
import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { LRUCache } from "lru-cache";
import { preferredReplica } from "../domain/preferred-replica.ts";
import type { ReplicaStore } from "../store/replica-store.ts";

/** Interval at which a replica reports that it runs, and reads which others do. */
const beatMs = 1_000;
/** A replica that was not seen for this long counts as gone. */
const freshMs = 4_000;
/** Most tenants whose partition is cached; hashing for each reference is noticeable in a burst. */
const tenantsMax = 10_000;

interface MembershipDeps {
  readonly replicas: Pick<ReplicaStore, "join" | "beat" | "fresh" | "delete">;
  /** Id of this process. */
  readonly replica: string;
  /** `host:port` of the process's ops door; undefined when the system picks the port. */
  readonly address: string | undefined;
  readonly log: Pick<Logger, "info" | "warn">;
}

/**
 * Knows for which tenants this replica is preferred; the others send for them only what is overdue.
 * A wrong answer may delay webhooks, or give an endpoint attempts from two replicas, above its
 * limits. It gives no lane to two replicas, because an attempt needs the lane's lease.
 */
export class Membership implements AsyncDisposable {
  readonly #deps: MembershipDeps;
  readonly #partitions = new LRUCache<string, number>({ max: tenantsMax });
  readonly #preferred = new Map<number, boolean>();
  readonly #listeners: (() => void)[] = [];
  #replicas: readonly string[] = [];
  readonly #beats: AsyncDisposable;

  private constructor(deps: MembershipDeps) {
    this.#deps = deps;
    this.#beats = repeat(() => this.#beat(), {
      everyMs: beatMs,
      pausesFirst: true,
      onFailure: (error) => deps.log.warn({ err: error }, "the other replicas are not known"),
    });
  }

  /**
   * Joins the other replicas, and replaces one with the same address. Resolves once the others are
   * known.
   */
  static async join(deps: MembershipDeps): Promise<Membership> {
    await deps.replicas.join(deps.replica, deps.address);
    const membership = new Membership(deps);
    await membership.#look();
    return membership;
  }

  /** Calls the listener whenever the set of running replicas has changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  isPreferredFor(tenantId: string): boolean {
    const partition = this.#partitions.get(tenantId) ?? partitionOf(tenantId);
    this.#partitions.set(tenantId, partition);
    return this.isPreferredForPartition(partition);
  }

  isPreferredForPartition(partition: number): boolean {
    const known = this.#preferred.get(partition);
    if (known !== undefined) return known;
    const preferred = preferredReplica(partition, this.#replicas) === this.#deps.replica;
    this.#preferred.set(partition, preferred);
    return preferred;
  }

  /** Leaves, so that the others take over at their next beat, and not after four seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#beats[Symbol.asyncDispose]();
    await this.#deps.replicas.delete(this.#deps.replica).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, "the other replicas take over in four seconds");
    });
  }

  async #beat(): Promise<void> {
    await this.#deps.replicas.beat(this.#deps.replica);
    await this.#look();
  }

  async #look(): Promise<void> {
    const { replica, log } = this.#deps;
    const fresh = await this.#deps.replicas.fresh(freshMs);
    const replicas = fresh.includes(replica) ? fresh : [...fresh, replica].sort();
    if (replicas.join() === this.#replicas.join()) return;
    this.#replicas = replicas;
    this.#preferred.clear();
    log.info({ replica, replicas }, "replicas");
    for (const listener of this.#listeners) listener();
  }
}
