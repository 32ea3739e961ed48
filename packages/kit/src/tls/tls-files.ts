import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile, readSmallFile } from "../private-file.ts";
import { identityOf, isIdentityPath } from "./peer-identity.ts";
import { serverContext } from "./server-context.ts";
import type { TlsMaterial } from "./tls-material.ts";

/** Files of a process's own certificate, used for its doors and for its calls to others. */
export interface TlsFiles {
  /** PEM: the certificate, followed by intermediate ones. */
  readonly certFile: string;
  /** PEM: the private key, readable by its owner (and group) only. */
  readonly keyFile: string;
  /** PEM: the authorities that are trusted. */
  readonly caFile: string;
  /** Path of the services' identities; `/{service}` by default. */
  readonly identityPath?: string;
}

type FileName = Exclude<keyof TlsFiles, "identityPath">;

export type TlsFileNames = Readonly<Record<FileName, string>>;

const variables: TlsFileNames = { certFile: "TLS_CERT_FILE", keyFile: "TLS_KEY_FILE", caFile: "TLS_CA_FILE" };

/** Reads TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, all or none, and IDENTITY_PATH. */
export function readTlsFiles(env: EnvReader): TlsFiles | undefined {
  const certFile = env.optional(variables.certFile);
  const keyFile = env.optional(variables.keyFile);
  const caFile = env.optional(variables.caFile);
  const identityPath = env.optional("IDENTITY_PATH");
  if (identityPath !== undefined && !isIdentityPath(identityPath)) {
    env.fault(`IDENTITY_PATH must be a path with {service} as one segment, not "${identityPath}"`);
  }
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile, ...(identityPath ? { identityPath } : {}) };
  if (certFile || keyFile || caFile) env.fault("TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE must be set together");
  return undefined;
}

const pemBytesMax = 1_048_576;

/**
 * @throws ConfigError for the first file that cannot be read, is too long, or is a key that others
 * may read
 */
export function readPemFiles({ certFile, keyFile, caFile }: TlsFiles): [cert: Buffer, key: Buffer, ca: Buffer] {
  return [
    readSmallFile(certFile, pemBytesMax),
    readPrivateFile(keyFile, pemBytesMax),
    readSmallFile(caFile, pemBytesMax),
  ];
}

/**
 * @param contents of the files of certificate, key and authorities, in this order
 * @throws ConfigError that lists the faults, without any of the key
 */
export function parsePem(
  contents: readonly Buffer[],
  names: TlsFileNames = variables,
  nowMs = Date.now(),
): TlsMaterial {
  const [cert = Buffer.alloc(0), key = Buffer.alloc(0), ca = Buffer.alloc(0)] = contents;
  const faults: string[] = [];
  const [parsed] = certificatesIn(cert, names.certFile, faults);
  const privateKey = attempt(() => createPrivateKey(key), `${names.keyFile}: holds no PEM private key`, faults);
  const authorities = certificatesIn(ca, names.caFile, faults);
  let identity = "";
  if (parsed) {
    const named = identityOf(parsed);
    if ("fault" in named) faults.push(`${names.certFile}: ${named.fault}`);
    else identity = named.identity;
    if (parsed.validFromDate.getTime() > nowMs)
      faults.push(`${names.certFile}: is not valid before ${parsed.validFrom}`);
    if (parsed.validToDate.getTime() <= nowMs) faults.push(`${names.certFile}: has expired on ${parsed.validTo}`);
  }
  if (parsed && privateKey && !parsed.checkPrivateKey(privateKey)) {
    faults.push(`${names.keyFile}: is not the key of ${names.certFile}`);
  }
  if (faults.length === 0) {
    // OpenSSL has further rules. Without this check a file that breaks them would fail only in the
    // door that uses it.
    attempt(() => createSecureContext(serverContext({ cert, key, ca })), `${names.certFile}: cannot be used`, faults);
  }
  if (!parsed || faults.length > 0) throw new ConfigError(faults.join("\n"));
  return { cert, key, ca, authorities, identity, validToMs: parsed.validToDate.getTime() };
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/**
 * Reads every certificate of a file, and adds the file's faults to `faults`. A file that was read
 * while it was being written may end within a certificate. OpenSSL refuses a cut certificate in a
 * chain, but silently leaves it out among authorities, so the end of the file is checked here.
 */
export function certificatesIn(pem: Buffer, name: string, faults: string[]): X509Certificate[] {
  const text = pem.toString("latin1");
  const blocks = Array.from(text.matchAll(pemBlock)).filter(([, label]) => label?.endsWith("CERTIFICATE"));
  if (/-----|-\s*$/.test(text.replaceAll(pemBlock, ""))) {
    faults.push(`${name}: ends within a certificate, or holds something that is not PEM`);
  } else if (blocks.length === 0) faults.push(`${name}: holds no PEM certificate`);
  const fault = `${name}: holds a certificate that cannot be read`;
  return blocks.flatMap(([block]) => attempt(() => new X509Certificate(block), fault, faults) ?? []);
}

function attempt<T>(read: () => T, fault: string, faults: string[]): T | undefined {
  try {
    return read();
  } catch {
    faults.push(fault);
    return undefined;
  }
}
