import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from "node:crypto";
import { ConfigError } from "../env.ts";

const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const kekIdBytes = 8;
const headerBytes = 1 + kekIdBytes;

/** Bytes that a box adds to what it holds. */
export const boxOverheadBytes = nonceBytes + tagBytes;

/** First bytes of each envelope: version (1 byte) and the KEK's id (8), which tells nothing else. */
export function envelopeHeader(kek: KeyObject): Buffer {
  const kekId = createHmac("sha256", kek).update("vidimus-kek-id").digest().subarray(0, kekIdBytes);
  return Buffer.concat([Buffer.of(formatVersion), kekId]);
}

/** What an envelope holds, and the setting that names the KEK's file, for messages. */
interface EnvelopeNames {
  readonly name: string;
  readonly setting: string;
}

/** Whether an envelope was sealed by the KEK that has this header. */
export function isSealedBy(envelope: Uint8Array, header: Buffer): boolean {
  return Buffer.from(envelope).subarray(0, headerBytes).equals(header);
}

/**
 * The boxes of an envelope, without its header.
 *
 * @throws ConfigError when it was sealed by another KEK
 */
export function openEnvelope(sealed: Uint8Array, header: Buffer, { name, setting }: EnvelopeNames): Buffer {
  const envelope = Buffer.from(sealed);
  if (envelope[0] !== formatVersion) throw new Error(`${name} has an unknown envelope version`);
  const sealedBy = envelope.subarray(1, headerBytes);
  const ours = header.subarray(1);
  if (!sealedBy.equals(ours)) {
    const names = `${sealedBy.toString("hex")}; ${setting} holds ${ours.toString("hex")}`;
    throw new ConfigError(`wrong KEK: ${name} is wrapped by the KEK ${names}`);
  }
  return envelope.subarray(headerBytes);
}

/** Encrypts with AES-256-GCM: nonce (12 bytes), tag (16), ciphertext. */
export function box(key: KeyObject | Buffer, plain: Buffer, aad: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @throws Error when key, `aad` or content differ from those of `box` */
export function unbox(key: KeyObject | Buffer, boxed: Buffer, aad: Buffer): Buffer {
  const nonce = boxed.subarray(0, nonceBytes);
  const tag = boxed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad).setAuthTag(tag);
  return Buffer.concat([decipher.update(boxed.subarray(nonceBytes + tagBytes)), decipher.final()]);
}
