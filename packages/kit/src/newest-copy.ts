import { Counter, type Registry } from "prom-client";
import { DomainError } from "./errors.ts";
import type { Logger } from "./telemetry/log.ts";
import { throttle } from "./telemetry/throttle.ts";

/** A statement of another service, or the stored copy of one. */
interface Revised {
  /** Greater after each change of the statement. */
  readonly revision: number;
}

/** Stores the newest copy that any process of this service received. */
export interface CopyKeeper<Stated extends Revised, Kept extends Revised> {
  /**
   * The stored copy, and the milliseconds since it was last stored, by the database's clock;
   * `Infinity` from a keeper that does not store that time.
   */
  read(): Promise<KeptCopy<Kept> | undefined>;
  /**
   * Stores a copy, unless a newer one is stored. May leave a stored copy of the same revision.
   *
   * @returns the stored copy
   */
  keep(stated: Stated): Promise<Kept>;
}

export interface KeptCopy<Kept> {
  readonly copy: Kept;
  readonly ageMs: number;
}

interface NewestCopyDeps<Stated extends Revised, Kept extends Revised> {
  /** What is copied, for log lines and the metric `vidimus_<name>_older_total`. */
  readonly name: string;
  ask(): Promise<Stated>;
  readonly keeper: CopyKeeper<Stated, Kept>;
  /** Milliseconds after which an unchanged copy is stored again, to renew its age. */
  readonly keepEveryMs: number;
  readonly log: Pick<Logger, "error">;
  readonly registry: Registry;
}

/**
 * While the other service states an older copy, every look finds it, so the log line is throttled
 * to one a minute.
 */
const alarmEveryMs = 60_000;

/**
 * The newest copy of what another service states. A revision older than one that any process of
 * this service received is refused and logged, because it means that the other service's database
 * was restored from an earlier state. The keeper gives the age of a stored copy; from then on a
 * monotonic clock measures the age.
 */
export class NewestCopy<Stated extends Revised, Kept extends Revised> {
  readonly #deps: NewestCopyDeps<Stated, Kept>;
  #copy: Kept | undefined;
  #statedAt = Number.NEGATIVE_INFINITY;
  #isOlder = false;
  #looking: Promise<void> | undefined;
  readonly #older: Counter;
  readonly #alarm: (revisions: { readonly revision: number; readonly newest: number }) => void;

  constructor(deps: NewestCopyDeps<Stated, Kept>) {
    this.#deps = deps;
    const { name, log, registry } = deps;
    const help = "Looks at which an older copy was stated than before";
    this.#older = new Counter({ name: `vidimus_${name}_older_total`, help, registers: [registry] });
    this.#alarm = throttle(alarmEveryMs, (revisions) =>
      log.error({ alarm: name, ...revisions }, "an older copy is stated than before"),
    );
  }

  /** Undefined until this process has read or received a copy. */
  get copy(): Kept | undefined {
    return this.#copy;
  }

  /**
   * Milliseconds since the newest copy was last stated, to this process or, if the keeper stores
   * the time, to another one. `Infinity` when that is not known.
   */
  get ageMs(): number {
    return performance.now() - this.#statedAt;
  }

  /** Whether the other service's last answer was older than the newest copy. */
  get isOlder(): boolean {
    return this.#isOlder;
  }

  /**
   * Reads the stored copy without asking the other service. Uses it unless this process has a newer
   * one.
   */
  async readKept(): Promise<KeptCopy<Kept> | undefined> {
    const kept = await this.#deps.keeper.read();
    if (kept && kept.copy.revision >= (this.#copy?.revision ?? 0)) this.#use(kept.copy, kept.ageMs);
    return kept;
  }

  /**
   * Reads the stored copy, then asks the other service for its newest one. Concurrent calls share
   * one look.
   *
   * @throws DomainError `unavailable` when the answer is older than the newest copy; also what the
   * keeper and `ask` throw
   */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    // The stored copy is read before asking: a copy that another process stores meanwhile may be
    // newer than the answer, and would make the answer look outdated.
    const kept = await this.readKept();
    const newest = this.#copy?.revision ?? 0;
    const askedAt = performance.now();
    const stated = await this.#deps.ask();
    this.#isOlder = stated.revision < newest;
    if (this.#isOlder) {
      this.#older.inc();
      this.#alarm({ revision: stated.revision, newest });
      throw new DomainError("unavailable", `revision ${stated.revision} is stated, after ${newest} was`);
    }
    const isKept = kept?.copy.revision === stated.revision && kept.ageMs < this.#deps.keepEveryMs;
    // The copy is stored before it is used, so that after a restart an older one is refused.
    if (!isKept) this.#copy = await this.#deps.keeper.keep(stated);
    this.#statedAt = askedAt;
  }

  #use(copy: Kept, ageMs: number): void {
    const statedAt = performance.now() - ageMs;
    const isNewer = copy.revision > (this.#copy?.revision ?? 0);
    this.#copy = copy;
    this.#statedAt = isNewer ? statedAt : Math.max(this.#statedAt, statedAt);
  }
}
