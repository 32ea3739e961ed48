import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";
import type { SealedKey } from "../domain/key-custody.ts";
import type { KeyState, ListKey, RingKey } from "../domain/key-ring.ts";
import { RingFault, type SealedRing } from "../domain/sealed-ring.ts";
import type { RingSaving, SealedRingStorage } from "../domain/sealed-rings.ts";
import { checkRingRow } from "./check-ring-row.ts";

interface SealedKeyRow {
  custody: string;
  envelope: Binary;
}

interface RingKeyRow {
  keyId: string;
  publicKey: Binary;
  state: KeyState;
  publishedAt: Date;
  validFrom: Date;
  validUntil?: Date;
  activeSince?: Date;
  sealed?: SealedKeyRow;
}

interface ListKeyRow {
  keyId: string;
  publicKey: Binary;
  sealed: SealedKeyRow;
  delegation?: string;
}

interface RingRow {
  _id: "ring";
  revision: number;
  keys: RingKeyRow[];
  listKey: ListKeyRow;
  /** Optional, because somebody may have removed `seal` and `mac` from the row. */
  seal?: SealedKeyRow;
  mac?: Binary;
}

/**
 * Keeps the key ring as one document, so that a change is atomic and there are never two active
 * keys.
 */
export class RingStore implements SealedRingStorage {
  readonly #rings: Collection<RingRow>;
  readonly #audit: Pick<AuditLog, "transact"> | undefined;

  /**
   * @param audit stores the entries of changes; absent in the restore command, which stores none
   */
  constructor(db: Db, audit?: Pick<AuditLog, "transact">) {
    this.#rings = db.collection("ring");
    this.#audit = audit;
  }

  /**
   * Reads with majority concern. Otherwise this process could read a revision that a failover rolls
   * back, and would then take the revision before that one for a ring from a backup.
   */
  async read(): Promise<SealedRing | undefined> {
    const row = await this.#rings.findOne({ _id: "ring" }, { maxTimeMS: 5_000, readConcern: "majority" });
    if (!row) return undefined;
    checkRingRow(row);
    return fromRow(row);
  }

  async save(sealed: SealedRing, { entry, replaces = sealed.ring.revision - 1 }: RingSaving = {}): Promise<boolean> {
    if (!entry) return this.#write(sealed, replaces);
    if (!this.#audit) throw new TypeError("a change of the key ring cannot be audited");
    return this.#audit.transact(async (session, record) => {
      if (!(await this.#write(sealed, replaces, session))) return false;
      await record(entry.by, entry.change);
      return true;
    });
  }

  async #write(sealed: SealedRing, replaces: number, session?: ClientSession): Promise<boolean> {
    const row = toRow(sealed);
    if (replaces > 0) {
      const options = session ? { session } : {};
      const { matchedCount } = await this.#rings.replaceOne({ _id: "ring", revision: replaces }, row, options);
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

function toRow({ ring, seal, mac }: SealedRing): RingRow {
  const [keys, listKey] = [ring.keys.map(toKeyRow), toListKeyRow(ring.listKey)];
  return { _id: "ring", revision: ring.revision, keys, listKey, seal: toSealedRow(seal), mac: new Binary(mac) };
}

function toListKeyRow({ keyId, publicKey, sealed, delegation }: ListKey): ListKeyRow {
  const row = { keyId, publicKey: new Binary(publicKey), sealed: toSealedRow(sealed) };
  return delegation === undefined ? row : { ...row, delegation };
}

function toKeyRow({ validUntil, activeSince, sealed, publicKey, ...key }: RingKey): RingKeyRow {
  return {
    ...key,
    publicKey: new Binary(publicKey),
    ...(validUntil && { validUntil }),
    ...(activeSince && { activeSince }),
    ...(sealed && { sealed: toSealedRow(sealed) }),
  };
}

function toSealedRow({ custody, envelope }: SealedKey): SealedKeyRow {
  return { custody, envelope: new Binary(envelope) };
}

function fromRow({ revision, keys, listKey, seal, mac }: RingRow): SealedRing {
  if (!seal || !mac) throw new RingFault("the key ring has no seal");
  const ring = { revision, keys: keys.map(fromKeyRow), listKey: fromListKeyRow(listKey) };
  return { ring, seal: fromSealedRow(seal), mac: mac.value() };
}

function fromListKeyRow({ keyId, publicKey, sealed, delegation }: ListKeyRow): ListKey {
  return { keyId, publicKey: publicKey.value(), sealed: fromSealedRow(sealed), delegation };
}

function fromKeyRow({ validUntil, activeSince, sealed, publicKey, ...key }: RingKeyRow): RingKey {
  return {
    ...key,
    publicKey: publicKey.value(),
    validUntil,
    activeSince,
    sealed: sealed && fromSealedRow(sealed),
  };
}

function fromSealedRow({ custody, envelope }: SealedKeyRow): SealedKey {
  return { custody, envelope: envelope.value() };
}
