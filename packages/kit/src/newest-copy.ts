import { Counter, type Registry } from "prom-client";
import { DomainError } from "./errors.ts";
import type { Logger } from "./telemetry/log.ts";
import { throttle } from "./telemetry/throttle.ts";

/** Something that another service states in revisions. */
interface Revised {
  /** Greater after each change. */
  readonly revision: number;
}

/** Keeps the newest copy that any process of a service was given. */
export interface CopyKeeper<Stated extends Revised, Kept extends Revised> {
  /** The kept copy, and how long ago it was last stated, in milliseconds by the database's clock. */
  read(): Promise<KeptCopy<Kept> | undefined>;
  /** Keeps a copy, unless a newer one is kept. @returns the one that is kept */
  keep(stated: Stated): Promise<Kept>;
}

/** A copy as it is kept. */
export interface KeptCopy<Kept> {
  readonly copy: Kept;
  readonly ageMs: number;
}

interface NewestCopyDeps<Stated extends Revised, Kept extends Revised> {
  /** Of what is copied, as alarms and the metric `vidimus_<name>_older_total` have it. */
  readonly name: string;
  /** Asks the service that states it. */
  ask(): Promise<Stated>;
  readonly keeper: CopyKeeper<Stated, Kept>;
  /** A copy that was stated again is kept again after so long, in milliseconds. */
  readonly keepEveryMs: number;
  readonly log: Pick<Logger, "error">;
  readonly registry: Registry;
}

/** An older copy is found at every look. */
const alarmEveryMs = 60_000;

/**
 * The newest copy of what another service states. An older one is never taken, also when it was given
 * to another process or before a restart: whoever brought the other service's database back to an
 * earlier state could otherwise undo what was stated since. It is alarmed. Ages are of a clock that
 * never jumps.
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

  /** The newest copy; undefined before one is known. */
  get copy(): Kept | undefined {
    return this.#copy;
  }

  /** Milliseconds since the newest copy was last stated, to this process or to another one. */
  get ageMs(): number {
    return performance.now() - this.#statedAt;
  }

  /** Whether an older copy was stated when this process last asked. */
  get isOlder(): boolean {
    return this.#isOlder;
  }

  /** Reads the copy that is kept, without asking. */
  async readKept(): Promise<KeptCopy<Kept> | undefined> {
    const kept = await this.#deps.keeper.read();
    if (kept && kept.copy.revision >= (this.#copy?.revision ?? 0)) this.#use(kept.copy, kept.ageMs);
    return kept;
  }

  /**
   * Reads the copy that is kept, and asks for the newest one. Calls at the same time share a look.
   *
   * @throws DomainError `unavailable` when an older one is stated; whatever the keeper and `ask` throw
   */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    // Read before asking: what another process keeps meanwhile is no proof that an older one is stated.
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
    // Kept before it is used: after a restart no older one may be.
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
