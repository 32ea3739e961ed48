import type { CustodyKey, KeyCustody, SealedKey, SealKey } from "./key-custody.ts";
import type { KeyRing, RingKey } from "./key-ring.ts";
import type { RingEntry } from "./ring-entry.ts";
import { messageOf, openSealedRing, RingFault, type SealedRing, sealRing } from "./sealed-ring.ts";
import type { RingStorage } from "./update-ring.ts";

/** Keeps one sealed ring: `store/ring-store.ts`. */
export interface SealedRingStorage {
  /** @throws RingFault when what is stored is not a sealed ring */
  read(): Promise<SealedRing | undefined>;
  /** Replaces a revision. False when another process replaced it first. */
  save(sealed: SealedRing, saving?: RingSaving): Promise<boolean>;
}

export interface RingSaving {
  /** Entry of the audit log, stored with the ring. */
  readonly entry?: RingEntry | undefined;
  /** The revision to replace; by default the one before. */
  readonly replaces?: number;
}

type RingCustody = Pick<KeyCustody, "generate" | "generateSealKey" | "openSealKey" | "rewrap" | "rewrapSealKey">;

interface RewrappedRing {
  readonly ring: KeyRing;
  /** False when the newest KEK had wrapped everything already. */
  readonly isChanged: boolean;
}

const rewrapAttemptsMax = 10;

/**
 * Seals rings, and checks the seals of those that it reads. Also refuses a ring that is older than
 * one that it has read, or missing after it has read one: a ring from a backup would list revoked
 * keys again.
 */
export class SealedRings implements RingStorage {
  readonly #store: SealedRingStorage;
  readonly #custody: RingCustody;
  #revision = 0;
  #opened: { envelope: Buffer; sealKey: SealKey } | undefined;
  /** Seal of revision `#revision`; when there is no ring, made by the first `save`. */
  #seal: SealedKey | undefined;

  constructor(store: SealedRingStorage, custody: RingCustody) {
    this.#store = store;
    this.#custody = custody;
  }

  async read(): Promise<KeyRing | undefined> {
    // The revision is copied before the read, because a concurrent read that ends first may raise
    // it, and this ring would then be refused as an old one.
    const known = this.#revision;
    const sealed = await this.#store.read();
    if (!sealed) {
      if (known > 0) throw new RingFault(`the key ring, last seen at revision ${known}, is gone`);
      return undefined;
    }
    const ring = await openSealedRing(sealed, await this.#openStored(sealed.seal));
    if (ring.revision < known) {
      throw new RingFault(`an old key ring was brought back: revision ${ring.revision}, after ${known} was read`);
    }
    this.#note(ring.revision, sealed.seal);
    return ring;
  }

  async save(ring: KeyRing, entry?: RingEntry): Promise<boolean> {
    // When another process has replaced the seal, it has taken this revision, too, and this save
    // answers false.
    const seal = this.#seal ?? (await this.#custody.generateSealKey());
    return this.#saveUnder(seal, ring, { entry });
  }

  generate(): Promise<CustodyKey> {
    return this.#custody.generate(this.#seal);
  }

  /**
   * Wraps the private keys and the seal of the ring with the newest KEK. The ring is stored by one
   * write, so when a process dies meanwhile all of it is under the old KEK or all under the new
   * one.
   *
   * @returns undefined when there is no ring
   * @throws RingFault, errors of `KeyCustody.rewrap`; Error when other processes changed the ring
   * in each of ten attempts
   */
  async rewrap(entry?: RingEntry): Promise<RewrappedRing | undefined> {
    for (let attempt = 0; attempt < rewrapAttemptsMax; attempt += 1) {
      const standing = await this.read();
      const seal = this.#seal;
      // A concurrent read may have found a newer ring, whose seal may be another one.
      if (standing && standing.revision < this.#revision) continue;
      if (!standing || !seal) return undefined;
      const newSeal = await this.#custody.rewrapSealKey(seal);
      const keys = await Promise.all(standing.keys.map((key) => this.#rewrapKey(key)));
      const sealed = await this.#custody.rewrap(standing.listKey);
      const areKeysChanged = keys.some((key, index) => key !== standing.keys[index]);
      const isChanged = newSeal !== seal || sealed !== standing.listKey.sealed || areKeysChanged;
      if (!isChanged) return { ring: standing, isChanged };
      const ring = { revision: standing.revision + 1, keys, listKey: { ...standing.listKey, sealed } };
      if (await this.#saveUnder(newSeal, ring, { entry })) return { ring, isChanged };
    }
    throw new Error(`other processes changed the key ring ${rewrapAttemptsMax} times in between`);
  }

  /**
   * Raises the revision of a ring from a backup to `revision`, at least by 1, so that receivers do
   * not refuse its trust list as outdated.
   *
   * @returns undefined when there is no ring
   * @throws RingFault; Error when another process changed the ring meanwhile
   */
  async lift(revision: number): Promise<KeyRing | undefined> {
    const standing = await this.read();
    const seal = this.#seal;
    if (!standing || !seal) return undefined;
    const ring = { ...standing, revision: Math.max(revision, standing.revision + 1) };
    if (await this.#saveUnder(seal, ring, { replaces: standing.revision })) return ring;
    throw new Error("a process changed the key ring meanwhile: stop signing first");
  }

  /**
   * The seal key of the last read ring, with which the ledger is sealed, too.
   *
   * @throws Error before a ring was read or saved
   */
  sealKey(): SealKey {
    if (this.#opened) return this.#opened.sealKey;
    throw new Error("no key ring was read yet");
  }

  async #rewrapKey(key: RingKey): Promise<RingKey> {
    if (!key.sealed) return key;
    const sealed = await this.#custody.rewrap({ ...key, sealed: key.sealed });
    return sealed === key.sealed ? key : { ...key, sealed };
  }

  async #saveUnder(seal: SealedKey, ring: KeyRing, saving: RingSaving): Promise<boolean> {
    const sealed = await sealRing(ring, seal, await this.#open(seal));
    if (!(await this.#store.save(sealed, saving))) return false;
    this.#note(ring.revision, seal);
    return true;
  }

  /**
   * Ignores an older revision, because concurrent reads may end in another order than they began.
   */
  #note(revision: number, seal: SealedKey): void {
    if (revision < this.#revision) return;
    this.#revision = revision;
    this.#seal = seal;
  }

  /**
   * Until a seal was opened, throws the custody's own error, which tells the operator which setting
   * is wrong; later a RingFault.
   */
  async #openStored(seal: SealedKey): Promise<SealKey> {
    try {
      return await this.#open(seal);
    } catch (error) {
      if (!this.#opened) throw error;
      throw new RingFault(`the key ring cannot be opened: ${messageOf(error)}`, { cause: error });
    }
  }

  async #open(seal: SealedKey): Promise<SealKey> {
    const envelope = Buffer.from(seal.envelope);
    if (!this.#opened?.envelope.equals(envelope)) {
      this.#opened = { envelope, sealKey: await this.#custody.openSealKey(seal) };
    }
    return this.#opened.sealKey;
  }
}
