import type { Db } from "mongodb";
import type { KeyCustody } from "../domain/key-custody.ts";
import { keyIdOf } from "../domain/key-id.ts";
import type { KeyRing, RingKey } from "../domain/key-ring.ts";
import { SealedRings } from "../domain/sealed-rings.ts";
import { RingStore } from "./ring-store.ts";

/**
 * Seals the ring of version 0.1.0, which had no seal. Each of its keys must be one whose private key
 * the KEK opens, so a key that someone planted in the database is not sealed.
 *
 * @returns the sealed ring's revision; undefined when there is no ring without a seal
 * @throws Error naming a key that this service did not make
 */
export async function sealFirstRing(db: Db, custody: KeyCustody): Promise<number | undefined> {
  const store = new RingStore(db);
  const unsealed = await store.readUnsealed();
  if (!unsealed) return undefined;
  for (const key of unsealed.keys) await assertOwn(key, custody);
  const ring: KeyRing = { revision: unsealed.revision + 1, keys: unsealed.keys };
  if (await new SealedRings(store, custody).save(ring)) return ring.revision;
  throw new Error("another process changed the key ring: stop all signing processes of the earlier version");
}

async function assertOwn({ keyId, publicKey, sealed }: RingKey, custody: KeyCustody): Promise<void> {
  if (!sealed || keyIdOf(publicKey) !== keyId) {
    throw new Error(`the key ring holds ${keyId}, which version 0.1.0 cannot have made`);
  }
  await custody.open({ keyId, publicKey, sealed });
}
