import { ConfigError } from "@vidimus/kit/env";
import { box, boxOverheadBytes, type Kek, kekOf, openEnvelope, unbox } from "@vidimus/kit/kek/kek-box";
import {
  createHmac,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { CustodyKey, KeyCustody, SealedKey, SealKey } from "../domain/key-custody.ts";
import { keyIdOf } from "../domain/key-id.ts";
import { ed25519Signer } from "./ed25519-signer.ts";

const localCustody = "local-wrapped";

const dataKeyBytes = 32;
const boxedDataKeyBytes = boxOverheadBytes + dataKeyBytes;
const sealName = "the seal of the key ring";

/**
 * Custody of keys that are stored in the database, encrypted: the PKCS #8 private key with a random
 * AES-256-GCM data key, and the data key with the KEK. Both encryptions also authenticate the key
 * id, the public key and the KEK's id, so a sealed key opens only under its own id. An opened
 * private key exists only as a `KeyObject` of this process.
 *
 * Envelope of a signing key: header, boxed data key (60 bytes), boxed PKCS #8. Of a seal key:
 * header, boxed key.
 *
 * @param oldKek opens what it has wrapped; wraps new keys only while it wraps the seal of their
 * ring
 */
export function localWrappedCustody(kek: KeyObject, oldKek?: KeyObject): KeyCustody {
  const newest = kekOf(kek, "SIGNING_KEK_FILE");
  const keks = oldKek ? [newest, kekOf(oldKek, "SIGNING_OLD_KEK_FILE")] : [newest];
  return {
    kekIds: keks.map(({ id }) => id),
    generate: async (seal) => generate(seal ? opened(seal, keks, sealName).kek : newest),
    open: async (key) => ed25519Signer(privateKeyOf(unwrap(keks, key).pkcs8)),
    generateSealKey: async () => wrapSealKey(newest, randomBytes(dataKeyBytes)),
    openSealKey: async (sealed) => sealKeyOf(unwrapSealKey(keks, sealed).key),
    rewrap: async (key) => rewrap(newest, keks, key),
    rewrapSealKey: async (sealed) => {
      const { kek: standing, key } = unwrapSealKey(keks, sealed);
      if (standing !== newest) return wrapSealKey(newest, key);
      key.fill(0);
      return sealed;
    },
  };
}

function generate(kek: Kek): CustodyKey {
  const pair = generateKeyPairSync("ed25519");
  const publicKey = pair.publicKey.export({ type: "spki", format: "der" });
  const key = { keyId: keyIdOf(publicKey), publicKey };
  return { ...key, sealed: wrap(kek, key, pair.privateKey.export({ type: "pkcs8", format: "der" })) };
}

function rewrap(newest: Kek, keks: readonly Kek[], key: CustodyKey): SealedKey {
  const { kek, pkcs8 } = unwrap(keks, key);
  if (kek !== newest) return wrap(newest, key, pkcs8);
  pkcs8.fill(0);
  return key.sealed;
}

/** Overwrites `pkcs8` with zeros. */
function wrap(kek: Kek, key: Pick<CustodyKey, "keyId" | "publicKey">, pkcs8: Buffer): SealedKey {
  const aad = binding(kek, key);
  const dataKey = randomBytes(dataKeyBytes);
  const envelope = Buffer.concat([kek.header, box(kek.key, dataKey, aad), box(dataKey, pkcs8, aad)]);
  dataKey.fill(0);
  pkcs8.fill(0);
  return { custody: localCustody, envelope };
}

function unwrap(keks: readonly Kek[], key: CustodyKey): { kek: Kek; pkcs8: Buffer } {
  const { kek, boxes } = opened(key.sealed, keks, `the signing key ${key.keyId}`);
  const aad = binding(kek, key);
  try {
    const dataKey = unbox(kek.key, boxes.subarray(0, boxedDataKeyBytes), aad);
    const pkcs8 = unbox(dataKey, boxes.subarray(boxedDataKeyBytes), aad);
    dataKey.fill(0);
    return { kek, pkcs8 };
  } catch (error) {
    const message = `the signing key ${key.keyId} was changed where it is stored, and cannot be used`;
    throw new Error(message, { cause: error });
  }
}

/** Overwrites `pkcs8` with zeros. */
function privateKeyOf(pkcs8: Buffer): KeyObject {
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  pkcs8.fill(0);
  return key;
}

function opened({ custody, envelope }: SealedKey, keks: readonly Kek[], name: string): { boxes: Buffer; kek: Kek } {
  if (custody === localCustody) return openEnvelope(envelope, keks, name);
  throw new ConfigError(`${name} is in the custody "${custody}", not in "${localCustody}"`);
}

function binding({ header }: Kek, { keyId, publicKey }: Pick<CustodyKey, "keyId" | "publicKey">): Buffer {
  return Buffer.concat([Buffer.from("vidimus-sealed-key\n"), header, Buffer.from(`${keyId}\n`), publicKey]);
}

/** Overwrites `key` with zeros. */
function wrapSealKey(kek: Kek, key: Buffer): SealedKey {
  const envelope = Buffer.concat([kek.header, box(kek.key, key, sealBinding(kek))]);
  key.fill(0);
  return { custody: localCustody, envelope };
}

function unwrapSealKey(keks: readonly Kek[], sealed: SealedKey): { kek: Kek; key: Buffer } {
  const { kek, boxes } = opened(sealed, keks, sealName);
  try {
    return { kek, key: unbox(kek.key, boxes, sealBinding(kek)) };
  } catch (error) {
    throw new Error(`${sealName} was changed where it is stored`, { cause: error });
  }
}

/** Overwrites `bytes` with zeros. */
function sealKeyOf(bytes: Buffer): SealKey {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return { mac: async (message) => createHmac("sha256", key).update(message).digest() };
}

function sealBinding({ header }: Kek): Buffer {
  return Buffer.concat([Buffer.from("vidimus-seal-key\n"), header]);
}
