import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { KeyRing, RingKey } from "./key-ring.ts";
import { type LedgerEntry, snapshotKeyOf } from "./ledger.ts";
import { parseStatement, type StatementParts } from "./statement.ts";

/**
 * - `stands`: the signature was made by a key of the ring that is not revoked
 * - `revoked`: the signature was made by a key that was revoked since
 * - `forged`: no key of the ring made the signature for this snapshot
 */
type SignatureState =
  | { readonly kind: "stands" | "revoked"; readonly stated: StatementParts; readonly key: RingKey }
  | { readonly kind: "forged" };

const forged: SignatureState = { kind: "forged" };

export function checkSignature({ snapshotKey, statement, value }: LedgerEntry, ring: KeyRing): SignatureState {
  const stated = parseStatement(statement);
  const key = stated && ring.keys.find(({ keyId }) => keyId === stated.keyId);
  if (!key || snapshotKeyOf(stated) !== snapshotKey) return forged;
  if (!verify(null, Buffer.from(statement), publicKeyOf(key), value)) return forged;
  return { kind: key.state === "revoked" ? "revoked" : "stands", stated, key };
}

const publicKeys = new WeakMap<RingKey, KeyObject>();

function publicKeyOf(key: RingKey): KeyObject {
  const known = publicKeys.get(key);
  if (known) return known;
  const made = createPublicKey({ key: Buffer.from(key.publicKey), format: "der", type: "spki" });
  publicKeys.set(key, made);
  return made;
}
