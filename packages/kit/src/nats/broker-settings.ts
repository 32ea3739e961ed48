import { credsAuthenticator, nkeyAuthenticator } from "nats";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile, readSmallFile } from "../private-file.ts";
import { certificatesIn } from "../tls/tls-files.ts";
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
 * Reads NATS_URL, and the paths in NATS_CREDS, NATS_NKEY_SEED, NATS_CA, NATS_CERT and NATS_KEY.
 * Also checks the files: their faults are reported as faults of the settings.
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
  if (credsFile) attempt(env, () => parseCreds(credsFile, readSecret("NATS_CREDS", credsFile)));
  if (seedFile) attempt(env, () => parseSeed(seedFile, readSeed(seedFile)));
  return { url, credsFile, seedFile, tls: readTls(env) };
}

const none = Buffer.alloc(0);

/**
 * Reads the files of NATS_CREDS or NATS_NKEY_SEED, of NATS_CA, NATS_CERT and NATS_KEY, in this
 * order; what is not set is empty.
 *
 * @throws ConfigError naming the variable of a file that cannot be read or lets others at a secret
 */
export function readBrokerFiles({ credsFile, seedFile, tls = {} }: BrokerSettings): Buffer[] {
  const { caFile, certFile, keyFile } = tls;
  const credentials = credsFile ? readSecret("NATS_CREDS", credsFile) : seedFile ? readSeed(seedFile) : none;
  return [
    credentials,
    caFile ? readPublic("NATS_CA", caFile) : none,
    certFile ? readPublic("NATS_CERT", certFile) : none,
    keyFile ? readSecret("NATS_KEY", keyFile) : none,
  ];
}

/**
 * Checks what `readBrokerFiles` has read, and returns the credentials as nats.js takes them.
 *
 * @throws ConfigError naming the variable of a file that does not hold what it should: the JWT and
 * the seed of a user, the seed of a user, whole certificates, or the key of the certificate
 */
export function parseBrokerFiles(
  contents: readonly Buffer[],
  { credsFile, seedFile, tls = {} }: BrokerSettings,
): Buffer {
  const { caFile, certFile, keyFile } = tls;
  const [credentials = none, ca = none, cert = none, key = none] = contents;
  if (caFile) requireCertificates("NATS_CA", caFile, ca);
  if (certFile && keyFile) requirePair({ certFile, keyFile }, cert, key);
  if (credsFile) return parseCreds(credsFile, credentials);
  return seedFile ? parseSeed(seedFile, credentials) : none;
}

function parseCreds(path: string, content: Buffer): Buffer {
  if (accepts(() => credsAuthenticator(content)("nonce"))) return content;
  throw new ConfigError(`NATS_CREDS: ${path} does not hold the JWT and the seed of a user`);
}

function readSeed(path: string): Buffer {
  if (isSeed(path))
    throw new ConfigError("NATS_NKEY_SEED names the file that holds the seed; it is not the seed itself");
  return readSecret("NATS_NKEY_SEED", path);
}

function parseSeed(path: string, content: Buffer): Buffer {
  const seed = content.toString("latin1").trim();
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
  if (caFile) attempt(env, () => requireCertificates("NATS_CA", caFile, readPublic("NATS_CA", caFile)));
  if (!certFile || !keyFile) {
    if (certFile || keyFile) env.fault("NATS_CERT and NATS_KEY must be set together");
    return caFile ? { caFile } : undefined;
  }
  attempt(env, () => {
    requirePair({ certFile, keyFile }, readPublic("NATS_CERT", certFile), readSecret("NATS_KEY", keyFile));
  });
  return { ...(caFile && { caFile }), certFile, keyFile };
}

function requirePair({ certFile, keyFile }: Required<Omit<BrokerTls, "caFile">>, cert: Buffer, key: Buffer): void {
  requireCertificates("NATS_CERT", certFile, cert);
  if (!accepts(() => createPrivateKey(key))) throw new ConfigError(`NATS_KEY: ${keyFile} holds no PEM private key`);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new ConfigError(`NATS_KEY: ${keyFile} is not the key of ${certFile}`);
}

function requireCertificates(variable: string, path: string, pem: Buffer): void {
  const faults: string[] = [];
  certificatesIn(pem, `${variable}: ${path}`, faults);
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
}

function readSecret(variable: string, path: string): Buffer {
  return readNamed(variable, () => readPrivateFile(path, fileBytesMax));
}

function readPublic(variable: string, path: string): Buffer {
  return readNamed(variable, () => readSmallFile(path, fileBytesMax));
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
