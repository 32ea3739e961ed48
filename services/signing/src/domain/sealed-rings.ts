import type { KeyCustody, SealedKey, SealKey } from "./key-custody.ts";
import type { KeyRing } from "./key-ring.ts";
import { openSealedRing, RingFault, type SealedRing, sealRing } from "./sealed-ring.ts";
import type { RingStorage } from "./update-ring.ts";

/** Keeps one sealed ring: `store/ring-store.ts`. */
export interface SealedRingStorage {
  /** @throws RingFault when what is stored cannot be a sealed ring */
  read(): Promise<SealedRing | undefined>;
  /** Replaces the revision before; false when another process replaced it first. */
  save(ring: SealedRing): Promise<boolean>;
}

/**
 * Seals rings and checks the seals of those it reads. It also refuses a ring that is older than one
 * it has read, or missing after that: one that was brought back from a backup would list revoked keys
 * again.
 */
export class SealedRings implements RingStorage {
  readonly #store: SealedRingStorage;
  readonly #custody: Pick<KeyCustody, "generateSealKey" | "openSealKey">;
  #revision = 0;
  #opened: { envelope: Buffer; sealKey: SealKey } | undefined;
  #seal: SealedKey | undefined;

  constructor(store: SealedRingStorage, custody: Pick<KeyCustody, "generateSealKey" | "openSealKey">) {
    this.#store = store;
    this.#custody = custody;
  }

  async read(): Promise<KeyRing | undefined> {
    // Of two reads that cross, the later one may be answered first: compare with what was known before.
    const known = this.#revision;
    const sealed = await this.#store.read();
    if (!sealed) {
      if (known > 0) throw new RingFault(`the key ring, last seen at revision ${known}, is gone`);
      this.#seal = undefined;
      return undefined;
    }
    const ring = await openSealedRing(sealed, await this.#open(sealed.seal));
    if (ring.revision < known) {
      throw new RingFault(`an old key ring was brought back: revision ${ring.revision}, after ${known} was read`);
    }
    this.#revision = Math.max(this.#revision, ring.revision);
    this.#seal = sealed.seal;
    return ring;
  }

  async save(ring: KeyRing): Promise<boolean> {
    const seal = (this.#seal ??= await this.#custody.generateSealKey());
    return this.#store.save(await sealRing(ring, seal, await this.#open(seal)));
  }

  /**
   * The key that seals the ring that was read last. The ledger is sealed with it, too.
   *
   * @throws Error before a ring was read or saved
   */
  sealKey(): SealKey {
    if (this.#opened) return this.#opened.sealKey;
    throw new Error("no key ring was read yet");
  }

  async #open(seal: SealedKey): Promise<SealKey> {
    const envelope = Buffer.from(seal.envelope);
    if (!this.#opened?.envelope.equals(envelope)) {
      this.#opened = { envelope, sealKey: await this.#custody.openSealKey(seal) };
    }
    return this.#opened.sealKey;
  }
}
