import { DomainError } from "@vidimus/kit/errors";
import type { CheckedClock } from "./checked-clock.ts";
import type { KeyCustody } from "./key-custody.ts";
import { type KeyRing, type RingKey, signingKey } from "./key-ring.ts";
import { pauseSigning } from "./ring-changes.ts";
import { RingFault } from "./sealed-ring.ts";
import type { SigningKey, SigningState } from "./sign-digests.ts";
import { type GenerateKey, type RingRules, tendRing } from "./tend-ring.ts";
import { type RingStorage, updateRing } from "./update-ring.ts";

/** The processes that sign: `store/signer-store.ts`. */
export interface Signers {
  /** Notes that this process signs. @returns the time of the database's clock */
  report(): Promise<Date>;
  databaseTime(): Promise<Date>;
  /** Called when this process stops. */
  leave(): Promise<void>;
  /** Whether a process that has not left reported within the last ten seconds. */
  anyAlive(): Promise<boolean>;
}

interface RingWatchDeps {
  rings: RingStorage;
  signers: Signers;
  custody: Pick<KeyCustody, "open">;
  generate: GenerateKey;
  /**
   * Revision of the ring under which the ledger's last batch was signed; undefined for an empty
   * ledger.
   */
  lastRingRevision(): Promise<number | undefined>;
  rules: RingRules;
  /** Whether this process signs. */
  isOn: boolean;
  /** Gives the dates in the ring. RingWatch compares this clock with the database's. */
  clock: CheckedClock;
  /** Milliseconds of a monotonic clock. */
  elapsedMs(): number;
}

/** No key of an older look at the ring signs, because it may have been revoked since. */
const lookAgeMaxMs = 5_000;

const reportEveryMs = 3_000;

interface Look {
  readonly ring: KeyRing;
  /** Undefined while no key signs, or when this process does not sign. */
  readonly key: SigningKey | undefined;
  /** When the look began, by `elapsedMs`. */
  readonly at: number;
}

/**
 * In a process that signs, each look at the ring makes the ring's due changes (`tendRing`) and
 * opens the keys of a new revision. In a process that does not sign, each look pauses signing when
 * no other process signs.
 */
export class RingWatch {
  readonly #deps: RingWatchDeps;
  #last: Look | undefined;
  #looking: Promise<Look | undefined> | undefined;
  #reportedAt = -Infinity;
  #fault: RingFault | undefined;

  constructor(deps: RingWatchDeps) {
    this.#deps = deps;
  }

  /**
   * Concurrent calls share one look.
   *
   * @throws RingFault, after which nothing is signed until a look succeeds; errors of
   * `KeyCustody.open`, of `updateRing` and of the database, after which the last look is used while
   * it is younger than five seconds
   */
  look(): Promise<Look | undefined> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /**
   * The key that signs and its ring, from a look of the last five seconds.
   *
   * @throws DomainError failed_precondition while signing is off or no key may sign; unavailable
   * when the ring cannot be used, or while `CheckedClock.isOff`
   */
  async signingState(): Promise<SigningState> {
    if (!this.#deps.isOn) throw new DomainError("failed_precondition", "signing is off");
    const { key, ring } = (await this.#freshLook()) ?? {};
    this.#deps.clock.require();
    if (!key || !ring) throw new DomainError("failed_precondition", "no key may sign yet");
    return { key, ring };
  }

  /** Fault that the stored ring had at a look; undefined once a later look has succeeded. */
  get fault(): RingFault | undefined {
    return this.#fault;
  }

  /** When the key that signs became active; undefined while none signs. */
  activeSince(): Date | undefined {
    return this.#last && signingKey(this.#last.ring)?.activeSince;
  }

  /** The offline root's delegation to the list key; undefined while none is installed or known. */
  delegation(): string | undefined {
    return this.#last?.ring.listKey.delegation;
  }

  async #freshLook(): Promise<Look | undefined> {
    if (this.#last && this.#deps.elapsedMs() - this.#last.at <= lookAgeMaxMs) return this.#last;
    try {
      return await this.look();
    } catch (cause) {
      throw new DomainError("unavailable", "the key ring cannot be used now", { cause });
    }
  }

  async #lookOnce(): Promise<Look | undefined> {
    const at = this.#deps.elapsedMs();
    try {
      await this.#report(at);
      const ring = await (this.#deps.isOn ? this.#tend() : this.#pauseUnlessSigned());
      this.#last = ring && { ring, key: await this.#open(ring), at };
      this.#fault = undefined;
      return this.#last;
    } catch (error) {
      if (error instanceof RingFault) {
        this.#last = undefined;
        this.#fault = error;
      }
      throw error;
    }
  }

  async #report(at: number): Promise<void> {
    if (at - this.#reportedAt < reportEveryMs) return;
    const { signers, clock, isOn } = this.#deps;
    await clock.compare(() => (isOn ? signers.report() : signers.databaseTime()));
    this.#reportedAt = at;
  }

  async #tend(): Promise<KeyRing | undefined> {
    const { rings, rules, generate, clock } = this.#deps;
    return updateRing(rings, async (standing) => {
      await this.#checkAgainstLedger(standing);
      return tendRing(standing?.keys, clock.now(), rules, generate);
    });
  }

  /**
   * When the ledger has signatures, refuses a missing ring, and a ring that is older than that of
   * the ledger's last batch, such as one from a backup. After a good look the ledger is not read,
   * because `SealedRings` then refuses older rings itself.
   */
  async #checkAgainstLedger(standing: KeyRing | undefined): Promise<void> {
    if (standing && this.#last) return;
    const revision = await this.#deps.lastRingRevision();
    if (revision === undefined || (standing && standing.revision >= revision)) return;
    const found = standing ? `the key ring is at revision ${standing.revision}` : "there is no key ring";
    throw new RingFault(`the ledger was signed under revision ${revision}, but ${found}: restore the newest one`);
  }

  async #pauseUnlessSigned(): Promise<KeyRing | undefined> {
    const { rings, signers, clock } = this.#deps;
    return updateRing(rings, async (standing) => {
      if (!standing) {
        await this.#checkAgainstLedger(standing);
        return [];
      }
      if (await signers.anyAlive()) return standing.keys;
      return pauseSigning(standing.keys, clock.now());
    });
  }

  /**
   * Opens pending keys, too, so that a pending key that cannot be opened is noticed now and not
   * when it is needed.
   */
  async #open(ring: KeyRing): Promise<SigningKey | undefined> {
    if (!this.#deps.isOn) return undefined;
    if (this.#last?.ring.revision === ring.revision) return this.#last.key;
    const signing = signingKey(ring);
    const opened = await Promise.all(ring.keys.map((key) => this.#openKey(key)));
    return opened.find((key) => key?.keyId === signing?.keyId);
  }

  async #openKey({ keyId, publicKey, sealed, validFrom }: RingKey): Promise<SigningKey | undefined> {
    return sealed && { keyId, validFrom, signer: await this.#deps.custody.open({ keyId, publicKey, sealed }) };
  }
}
