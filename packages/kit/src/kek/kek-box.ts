import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from "node:crypto";
import { ConfigError } from "../env.ts";

const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const kekIdBytes = 8;
const headerBytes = 1 + kekIdBytes;

export const boxOverheadBytes = nonceBytes + tagBytes;

export interface Kek {
  readonly key: KeyObject;
  /** In hex. The key cannot be derived from it. */
  readonly id: string;
  /** First bytes of each envelope that the KEK wraps: version (1 byte) and the KEK's id (8). */
  readonly header: Buffer;
  /** The setting that names the key's file, for messages. */
  readonly setting: string;
}

export function kekOf(key: KeyObject, setting: string): Kek {
  const id = createHmac("sha256", key).update("vidimus-kek-id").digest().subarray(0, kekIdBytes);
  return { key, id: id.toString("hex"), header: Buffer.concat([Buffer.of(formatVersion), id]), setting };
}

export function isWrappedBy(envelope: Uint8Array, { header }: Kek): boolean {
  return Buffer.from(envelope).subarray(0, headerBytes).equals(header);
}

/**
 * Returns the KEK that wrapped an envelope, and the envelope without its header.
 *
 * @param name what is sealed, for the message
 * @throws ConfigError when none of `keks` wrapped the envelope, Error when its format is unknown
 */
export function openEnvelope(sealed: Uint8Array, keks: readonly Kek[], name: string): { boxes: Buffer; kek: Kek } {
  const envelope = Buffer.from(sealed);
  if (envelope[0] !== formatVersion) throw new Error(`${name} has an unknown envelope version`);
  const kek = keks.find((each) => isWrappedBy(envelope, each));
  if (kek) return { boxes: envelope.subarray(headerBytes), kek };
  const held = keks.map(({ id, setting }) => `${setting} holds ${id}`).join(", ");
  const kekId = envelope.subarray(1, headerBytes).toString("hex");
  throw new ConfigError(`wrong KEK: ${name} is wrapped by the KEK ${kekId}; ${held}`);
}

/** Encrypts with AES-256-GCM. Returns nonce (12 bytes), tag (16) and ciphertext. */
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
