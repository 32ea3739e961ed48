import { ConfigError } from "@vidimus/kit/env";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { CustodyKey, KeyCustody } from "../domain/key-custody.ts";
import { keyIdOf } from "../domain/key-id.ts";
import { ed25519Signer } from "./ed25519-signer.ts";

const custody = "local-wrapped";
const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const dataKeyBytes = 32;
const kekIdBytes = 8;
const boxedDataKeyBytes = nonceBytes + tagBytes + dataKeyBytes;
const headerBytes = 1 + kekIdBytes;

/**
 * Custody of keys that the database keeps encrypted: the PKCS #8 private key with a random
 * AES-256-GCM data key, and the data key with the KEK. Key id and public key are authenticated with
 * both, so a sealed key opens only under its own id. An open private key exists only as a
 * `KeyObject` of this process.
 *
 * Envelope: version (1 byte), KEK id (8), boxed data key (60), boxed PKCS #8. A box is nonce (12),
 * tag (16) and ciphertext.
 */
export function localWrappedCustody(kek: KeyObject): KeyCustody {
  const header = Buffer.concat([Buffer.of(formatVersion), kekIdOf(kek)]);
  return {
    generate: async () => generate(kek, header),
    open: async (key) => {
      assertKek(key, header);
      return ed25519Signer(unwrap(kek, header, key));
    },
  };
}

/** Identifies a KEK without telling anything else about it. */
function kekIdOf(kek: KeyObject): Buffer {
  return createHmac("sha256", kek).update("vidimus-kek-id").digest().subarray(0, kekIdBytes);
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
  return { keyId, publicKey, sealed: { custody, envelope } };
}

function assertKek({ keyId, sealed }: CustodyKey, header: Buffer): void {
  if (sealed.custody !== custody) {
    throw new ConfigError(`the signing key ${keyId} is in the custody "${sealed.custody}", not in "${custody}"`);
  }
  const envelope = Buffer.from(sealed.envelope);
  if (envelope[0] !== formatVersion) throw new Error(`the signing key ${keyId} has an unknown envelope version`);
  const sealedBy = envelope.subarray(1, headerBytes);
  const ours = header.subarray(1);
  if (!sealedBy.equals(ours)) {
    const names = `${sealedBy.toString("hex")}; SIGNING_KEK_FILE holds ${ours.toString("hex")}`;
    throw new ConfigError(`wrong KEK: the signing key ${keyId} is wrapped by the KEK ${names}`);
  }
}

function unwrap(kek: KeyObject, header: Buffer, { keyId, publicKey, sealed }: CustodyKey): KeyObject {
  const aad = binding(header, keyId, publicKey);
  const boxes = Buffer.from(sealed.envelope).subarray(headerBytes);
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

function box(key: KeyObject | Buffer, plain: Buffer, aad: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function unbox(key: KeyObject | Buffer, boxed: Buffer, aad: Buffer): Buffer {
  const nonce = boxed.subarray(0, nonceBytes);
  const tag = boxed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad).setAuthTag(tag);
  return Buffer.concat([decipher.update(boxed.subarray(nonceBytes + tagBytes)), decipher.final()]);
}
