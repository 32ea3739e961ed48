import { ConfigError } from "@vidimus/kit/env";
import { randomBytes, webcrypto } from "node:crypto";
import type { CustodyKey, KeyCustody, SealedKey } from "../../src/domain/key-custody.ts";
import { keyIdOf } from "../../src/domain/key-id.ts";

const { subtle } = webcrypto;
const custodyName = "remote-kms";

/**
 * Custody by a key management service, in memory. Its private keys cannot be exported from Web
 * Crypto, and the database holds only their names. Processes share one such custody, as they would
 * share a KMS.
 */
export function remoteCustody(): KeyCustody {
  const pairs = new Map<string, { privateKey: webcrypto.CryptoKey; publicKey: Buffer }>();
  const macKeys = new Map<string, webcrypto.CryptoKey>();

  const pairOf = ({ keyId, publicKey, sealed }: CustodyKey) => {
    const pair = pairs.get(nameIn(sealed, `the signing key ${keyId}`));
    if (pair?.publicKey.equals(publicKey) && keyIdOf(publicKey) === keyId) return pair;
    throw new Error(`the signing key ${keyId} was changed where it is stored, and cannot be used`);
  };
  const macKeyOf = (sealed: SealedKey) => {
    const key = macKeys.get(nameIn(sealed, "the seal of the key ring"));
    if (key) return key;
    throw new Error("the seal of the key ring was changed where it is stored");
  };

  return {
    kekIds: [],
    async generate() {
      const made = (await subtle.generateKey("Ed25519", false, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
      const publicKey = Buffer.from(await subtle.exportKey("spki", made.publicKey));
      const name = randomBytes(16);
      pairs.set(name.toString("hex"), { privateKey: made.privateKey, publicKey });
      return { keyId: keyIdOf(publicKey), publicKey, sealed: { custody: custodyName, envelope: name } };
    },
    async open(key) {
      const { privateKey } = pairOf(key);
      const sign = async (message: Uint8Array) => subtle.sign("Ed25519", privateKey, Uint8Array.from(message));
      return { sign: async (message) => Buffer.from(await sign(message)) };
    },
    async generateSealKey() {
      const name = randomBytes(16);
      const key = await subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      macKeys.set(name.toString("hex"), key);
      return { custody: custodyName, envelope: name };
    },
    async openSealKey(sealed) {
      const key = macKeyOf(sealed);
      return { mac: async (message) => Buffer.from(await subtle.sign("HMAC", key, Uint8Array.from(message))) };
    },
    async rewrap(key) {
      pairOf(key);
      return key.sealed;
    },
    async rewrapSealKey(sealed) {
      macKeyOf(sealed);
      return sealed;
    },
  };
}

function nameIn({ custody, envelope }: SealedKey, what: string): string {
  if (custody === custodyName) return Buffer.from(envelope).toString("hex");
  throw new ConfigError(`${what} is in the custody "${custody}", not in "${custodyName}"`);
}
