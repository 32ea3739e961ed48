import { ConfigError } from "@vidimus/kit/env";
import { box, boxOverheadBytes, envelopeHeader, openEnvelope, unbox } from "@vidimus/kit/kek/kek-box";
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import type { CustodyKey, KeyCustody, SealedKey, SealKey } from "../domain/key-custody.ts";
import { keyIdOf } from "../domain/key-id.ts";
import { ed25519Signer } from "./ed25519-signer.ts";

/** Name of the custody whose keys the database keeps, wrapped by a KEK. */
const localCustody = "local-wrapped";

const dataKeyBytes = 32;
const boxedDataKeyBytes = boxOverheadBytes + dataKeyBytes;

/**
 * Custody of keys that the database keeps encrypted: the PKCS #8 private key with a random
 * AES-256-GCM data key, and the data key with the KEK. Key id and public key are authenticated with
 * both, so a sealed key opens only under its own id. An open private key exists only as a
 * `KeyObject` of this process.
 *
 * Envelope of a signing key: header, boxed data key (60 bytes), boxed PKCS #8. Of a seal key:
 * header, boxed key.
 */
export function localWrappedCustody(kek: KeyObject): KeyCustody {
  const header = envelopeHeader(kek);
  return {
    generate: async () => generate(kek, header),
    open: async (key) => ed25519Signer(unwrap(kek, header, key)),
    generateSealKey: async () => generateSealKey(kek, header),
    openSealKey: async (sealed) => openSealKey(kek, header, sealed),
  };
}

function generate(kek: KeyObject, header: Buffer): CustodyKey {
  const pair = generateKeyPairSync("ed25519");
  const publicKey = pair.publicKey.export({ type: "spki", format: "der" });
  const keyId = keyIdOf(publicKey);
  const aad = binding(header, keyId, publicKey);
  const pkcs8 = pair.privateKey.export({ type: "pkcs8", format: "der" });
  const dataKey = randomBytes(dataKeyBytes);
  const envelope = Buffer.concat([header, box(kek, dataKey, aad), box(dataKey, pkcs8, aad)]);
  dataKey.fill(0);
  pkcs8.fill(0);
  return { keyId, publicKey, sealed: { custody: localCustody, envelope } };
}

function unwrap(kek: KeyObject, header: Buffer, { keyId, publicKey, sealed }: CustodyKey): KeyObject {
  const boxes = boxesOf(sealed, header, `the signing key ${keyId}`);
  const aad = binding(header, keyId, publicKey);
  try {
    const dataKey = unbox(kek, boxes.subarray(0, boxedDataKeyBytes), aad);
    const pkcs8 = unbox(dataKey, boxes.subarray(boxedDataKeyBytes), aad);
    dataKey.fill(0);
    const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    pkcs8.fill(0);
    return privateKey;
  } catch (error) {
    throw new Error(`the signing key ${keyId} was changed where it is stored, and cannot be used`, { cause: error });
  }
}

function binding(header: Buffer, keyId: string, publicKey: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from("vidimus-sealed-key\n"), header, Buffer.from(`${keyId}\n`), publicKey]);
}

function generateSealKey(kek: KeyObject, header: Buffer): SealedKey {
  const key = randomBytes(dataKeyBytes);
  const envelope = Buffer.concat([header, box(kek, key, sealBinding(header))]);
  key.fill(0);
  return { custody: localCustody, envelope };
}

function openSealKey(kek: KeyObject, header: Buffer, sealed: SealedKey): SealKey {
  const boxed = boxesOf(sealed, header, "the seal of the key ring");
  try {
    const key = unbox(kek, boxed, sealBinding(header));
    return { mac: async (bytes) => createHmac("sha256", key).update(bytes).digest() };
  } catch (error) {
    throw new Error("the seal of the key ring was changed where it is stored", { cause: error });
  }
}

function sealBinding(header: Buffer): Buffer {
  return Buffer.concat([Buffer.from("vidimus-seal-key\n"), header]);
}

/** @throws ConfigError when it was sealed by another custody or another KEK */
function boxesOf(sealed: SealedKey, header: Buffer, name: string): Buffer {
  if (sealed.custody !== localCustody) {
    throw new ConfigError(`${name} is in the custody "${sealed.custody}", not in "${localCustody}"`);
  }
  return openEnvelope(sealed.envelope, header, { name, setting: "SIGNING_KEK_FILE" });
}
