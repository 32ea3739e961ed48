import { partitionOf } from "@vidimus/contracts/snapshot-subject";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { LRUCache } from "lru-cache";
import { setTimeout as pause } from "node:timers/promises";
import { preferredReplica } from "../domain/preferred-replica.ts";
import type { ReplicaStore } from "../store/replica-store.ts";

/** How often a replica says that it runs, and looks who else does. */
export const beatMs = 1_000;
/** A replica that was not seen for this long counts as gone. */
const freshMs = 4_000;
/** Most tenants whose partitions are remembered: a hash for each reference counts in a burst. */
const tenantsMax = 10_000;

interface MembershipDeps {
  readonly replicas: Pick<ReplicaStore, "join" | "beat" | "fresh" | "delete">;
  /** Names this process. */
  readonly replica: string;
  /** `host:port` of a port that it has, if the port is a fixed one. */
  readonly address: string | undefined;
  readonly log: Pick<Logger, "info" | "warn">;
}

/**
 * Knows which tenants this replica is preferred for. A wrong answer costs a lost race at most: the
 * rows decide who sends.
 */
export class Membership implements AsyncDisposable {
  readonly #deps: MembershipDeps;
  readonly #stop = new AbortController();
  readonly #partitions = new LRUCache<string, number>({ max: tenantsMax });
  readonly #preferred = new Map<number, boolean>();
  readonly #listeners: (() => void)[] = [];
  #replicas: readonly string[] = [];
  readonly #loop: Promise<void>;

  private constructor(deps: MembershipDeps) {
    this.#deps = deps;
    this.#loop = this.#beatUntilStopped();
  }

  /**
   * Joins the other replicas, in the place of one that had the same address. Resolves once it is
   * known which they are.
   */
  static async join(deps: MembershipDeps): Promise<Membership> {
    await deps.replicas.join(deps.replica, deps.address);
    const membership = new Membership(deps);
    await membership.#look();
    return membership;
  }

  /** Calls back whenever other replicas run than before. */
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

  /** Leaves, so that the others take over at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.#deps.replicas.delete(this.#deps.replica).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, "the other replicas take over in four seconds");
    });
  }

  async #beatUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await pause(beatMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#deps.replicas.beat(this.#deps.replica);
        await this.#look();
      } catch (error) {
        this.#deps.log.warn({ err: error }, "the other replicas are not known");
      }
    }
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
