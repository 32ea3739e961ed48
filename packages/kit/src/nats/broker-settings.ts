import { credsAuthenticator, nkeyAuthenticator } from "nats";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile, readSmallFile } from "../private-file.ts";
import { parseServers } from "./servers.ts";

export interface BrokerSettings {
  /** One or several URLs, separated by commas. Credentials in them are used and never logged. */
  readonly url: string;
  /** File with the JWT of a user and the seed of its key, as `nsc` writes it. */
  readonly credsFile?: string | undefined;
  /** File with the seed of a user's NKey. */
  readonly seedFile?: string | undefined;
  /** When set, connections use TLS, as with a `tls://` URL. */
  readonly tls?: BrokerTls | undefined;
}

/** PEM files for connections to the broker. */
interface BrokerTls {
  /** Authorities that are trusted; by default those of Node. */
  readonly caFile?: string;
  /** The certificate that names this service; set if and only if `keyFile` is. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

const fileBytesMax = 65_536;

/**
 * Reads NATS_URL and the files that NATS_CREDS, NATS_NKEY_SEED, NATS_CA, NATS_CERT and NATS_KEY
 * name. Faults of the files are reported as faults of the settings.
 *
 * @param fallback the URL when NATS_URL is not set; without a fallback NATS_URL is required
 */
export function readBroker(env: EnvReader, fallback?: string): BrokerSettings {
  const url = env.string("NATS_URL", fallback === undefined ? {} : { fallback });
  const credsFile = env.optional("NATS_CREDS");
  const seedFile = env.optional("NATS_NKEY_SEED");
  const address = url === "" ? undefined : attempt(env, () => parseServers(url));
  const isInUrl = address !== undefined && (address.user !== undefined || address.token !== undefined);
  const ways = [isInUrl && "NATS_URL", credsFile && "NATS_CREDS", seedFile && "NATS_NKEY_SEED"].filter(Boolean);
  if (ways.length > 1) env.fault(`${ways.join(" and ")} have credentials each; only one of them may`);
  if (credsFile) attempt(env, () => readCreds(credsFile));
  if (seedFile) attempt(env, () => readSeed(seedFile));
  return { url, credsFile, seedFile, tls: readTls(env) };
}

/**
 * Reads the file of NATS_CREDS.
 *
 * @throws ConfigError naming the variable when `readPrivateFile` refuses the file, or when it does
 * not hold the JWT and the seed of a user
 */
export function readCreds(path: string): Uint8Array {
  const content = readNamed("NATS_CREDS", () => readPrivateFile(path, fileBytesMax));
  if (!accepts(() => credsAuthenticator(content)("nonce")))
    throw new ConfigError(`NATS_CREDS: ${path} does not hold the JWT and the seed of a user`);
  return content;
}

/**
 * Reads the file of NATS_NKEY_SEED.
 *
 * @throws ConfigError naming the variable when `path` is itself a seed, when `readPrivateFile`
 * refuses the file, or when it does not hold the seed of a user
 */
export function readSeed(path: string): Uint8Array {
  if (isSeed(path))
    throw new ConfigError("NATS_NKEY_SEED names the file that holds the seed; it is not the seed itself");
  const seed = readNamed("NATS_NKEY_SEED", () => readPrivateFile(path, fileBytesMax))
    .toString("latin1")
    .trim();
  if (!isSeed(seed)) throw new ConfigError(`NATS_NKEY_SEED: ${path} does not hold the seed of a user (SU…)`);
  return Buffer.from(seed);
}

function isSeed(text: string): boolean {
  return text.startsWith("SU") && accepts(() => nkeyAuthenticator(Buffer.from(text))("nonce"));
}

function readTls(env: EnvReader): BrokerTls | undefined {
  const caFile = env.optional("NATS_CA");
  const certFile = env.optional("NATS_CERT");
  const keyFile = env.optional("NATS_KEY");
  if (!caFile && !certFile && !keyFile) return undefined;
  if (caFile) attempt(env, () => readCertificate("NATS_CA", caFile));
  if (!certFile || !keyFile) {
    if (certFile || keyFile) env.fault("NATS_CERT and NATS_KEY must be set together");
    return caFile ? { caFile } : undefined;
  }
  attempt(env, () => checkPair(certFile, keyFile));
  return { ...(caFile && { caFile }), certFile, keyFile };
}

function checkPair(certFile: string, keyFile: string): void {
  const certificate = readCertificate("NATS_CERT", certFile);
  const pem = readNamed("NATS_KEY", () => readPrivateFile(keyFile, fileBytesMax));
  if (!accepts(() => createPrivateKey(pem))) throw new ConfigError(`NATS_KEY: ${keyFile} holds no PEM private key`);
  if (!certificate.checkPrivateKey(createPrivateKey(pem)))
    throw new ConfigError(`NATS_KEY: ${keyFile} is not the key of ${certFile}`);
}

function readCertificate(variable: string, path: string): X509Certificate {
  const pem = readNamed(variable, () => readSmallFile(path, fileBytesMax));
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ConfigError(`${variable}: ${path} holds no PEM certificate`);
  }
}

function readNamed(variable: string, read: () => Buffer): Buffer {
  try {
    return read();
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${variable}: ${error.message}`) : error;
  }
}

function accepts(use: () => unknown): boolean {
  try {
    use();
    return true;
  } catch {
    return false;
  }
}

function attempt<T>(env: EnvReader, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    env.fault(error.message);
    return undefined;
  }
}
