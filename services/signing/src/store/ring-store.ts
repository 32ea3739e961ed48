import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type Collection, type Db } from "mongodb";
import { assertRing, type KeyRing, type KeyState, type RingKey } from "../domain/key-ring.ts";
import type { RingStorage } from "../domain/update-ring.ts";

interface RingKeyRow {
  keyId: string;
  publicKey: Binary;
  state: KeyState;
  publishedAt: Date;
  validFrom: Date;
  validUntil?: Date;
  sealed?: { custody: string; envelope: Binary };
}

interface RingRow {
  _id: "ring";
  revision: number;
  keys: RingKeyRow[];
}

/**
 * Keeps the key ring as one document, so that a change is atomic and there are never two active
 * keys.
 */
export class RingStore implements RingStorage {
  readonly #rings: Collection<RingRow>;

  constructor(db: Db) {
    this.#rings = db.collection("ring");
  }

  async read(): Promise<KeyRing | undefined> {
    const row = await this.#rings.findOne({ _id: "ring" }, { maxTimeMS: 5_000 });
    return row ? fromRow(row) : undefined;
  }

  async save(ring: KeyRing): Promise<boolean> {
    const row = toRow(ring);
    if (ring.revision > 1) {
      const { matchedCount } = await this.#rings.replaceOne({ _id: "ring", revision: ring.revision - 1 }, row);
      return matchedCount === 1;
    }
    try {
      await this.#rings.insertOne(row);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

function toRow(ring: KeyRing): RingRow {
  assertRing(ring);
  return { _id: "ring", revision: ring.revision, keys: ring.keys.map(toKeyRow) };
}

function toKeyRow({ validUntil, sealed, publicKey, ...key }: RingKey): RingKeyRow {
  return {
    ...key,
    publicKey: new Binary(publicKey),
    ...(validUntil && { validUntil }),
    ...(sealed && { sealed: { custody: sealed.custody, envelope: new Binary(sealed.envelope) } }),
  };
}

function fromRow({ revision, keys }: RingRow): KeyRing {
  const ring = { revision, keys: keys.map(fromKeyRow) };
  assertRing(ring);
  return ring;
}

function fromKeyRow({ validUntil, sealed, publicKey, ...key }: RingKeyRow): RingKey {
  return {
    ...key,
    publicKey: publicKey.value(),
    validUntil,
    sealed: sealed && { custody: sealed.custody, envelope: sealed.envelope.value() },
  };
}
