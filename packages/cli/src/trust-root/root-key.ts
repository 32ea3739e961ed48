import { ConfigError } from "@vidimus/kit/env";
import { readPrivateFile } from "@vidimus/kit/private-file";
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { CliError, messageOf } from "../cli-error.ts";

const fileBytesMax = 1_024;

/**
 * Makes an offline root and writes its private key to a new file, as PKCS #8 in PEM with mode 0600.
 *
 * @returns its public key, base64 of SPKI DER, which verifiers pin
 * @throws CliError when the file exists or cannot be written
 */
export async function createRootKey(path: string): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  try {
    const pem = privateKey.export({ format: "pem", type: "pkcs8" });
    await writeFile(path, pem, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${messageOf(error)}`);
  }
  return spkiOf(publicKey);
}

interface DelegationRequest {
  /** Base64 of SPKI DER. */
  readonly listKey: string;
  readonly validUntil: Date;
}

/**
 * Signs a delegation with the root's private key in a file.
 *
 * @returns the five lines: `vidimus-trust-root-v1`, id and public key of the list key, the end, and
 * the root's signature over these four lines in base64; and the root's public key
 * @throws CliError when `readPrivateFile` refuses the file or it holds no Ed25519 private key
 */
export function delegate(
  path: string,
  { listKey, validUntil }: DelegationRequest,
): { delegation: string; root: string } {
  const rootKey = readRootKey(path);
  const digest = hash("sha256", Buffer.from(listKey, "base64"), "base64url");
  const lines = ["vidimus-trust-root-v1", `ed25519-${digest.slice(0, 16)}`, listKey, validUntil.toISOString()];
  const signature = sign(null, Buffer.from(lines.join("\n")), rootKey).toString("base64");
  return { delegation: [...lines, signature].join("\n"), root: spkiOf(createPublicKey(rootKey)) };
}

function readRootKey(path: string): KeyObject {
  try {
    const key = createPrivateKey(readPrivateFile(path, fileBytesMax));
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch (error) {
    if (error instanceof ConfigError) throw new CliError(error.message);
  }
  throw new CliError(`${path} holds no Ed25519 private key in PEM`);
}

function spkiOf(key: KeyObject): string {
  return key.export({ format: "der", type: "spki" }).toString("base64");
}
