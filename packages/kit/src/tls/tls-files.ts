import { createPrivateKey, X509Certificate } from "node:crypto";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile, readSmallFile } from "../private-file.ts";
import { identityOf } from "./peer-identity.ts";

/** Files of a process's own certificate. It is used for the doors and for calls to others. */
export interface TlsFiles {
  /** PEM: the certificate, then intermediate ones. */
  readonly certFile: string;
  /** PEM: the private key, readable by its owner (and group) only. */
  readonly keyFile: string;
  /** PEM: the authorities whose certificates are believed. */
  readonly caFile: string;
}

/** Names of the three settings, for messages. */
export type TlsFileNames = Readonly<Record<keyof TlsFiles, string>>;

const variables: TlsFileNames = { certFile: "TLS_CERT_FILE", keyFile: "TLS_KEY_FILE", caFile: "TLS_CA_FILE" };

/** Reads TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE: all or none. */
export function readTlsFiles(env: EnvReader): TlsFiles | undefined {
  const certFile = env.optional(variables.certFile);
  const keyFile = env.optional(variables.keyFile);
  const caFile = env.optional(variables.caFile);
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile };
  if (certFile || keyFile || caFile) env.fault("TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE must be set together");
  return undefined;
}

/** A certificate that can be used: key and certificate belong together, and it names one identity. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
  readonly identity: string;
  /** End of the certificate's validity, in ms since 1970. */
  readonly validToMs: number;
}

const pemBytesMax = 1_048_576;

/** Reads the three files: certificate, key, authorities. Throws a ConfigError that names one. */
export function readPemFiles({ certFile, keyFile, caFile }: TlsFiles): [cert: Buffer, key: Buffer, ca: Buffer] {
  return [
    readSmallFile(certFile, pemBytesMax),
    readPrivateFile(keyFile, pemBytesMax),
    readSmallFile(caFile, pemBytesMax),
  ];
}

/**
 * Checks the contents of the three files.
 *
 * @throws ConfigError that lists every fault, without any of the key
 */
export function parsePem(
  contents: readonly Buffer[],
  names: TlsFileNames = variables,
  nowMs = Date.now(),
): TlsMaterial {
  const [cert = Buffer.alloc(0), key = Buffer.alloc(0), ca = Buffer.alloc(0)] = contents;
  const faults: string[] = [];
  const parsed = attempt(() => new X509Certificate(cert), `${names.certFile}: holds no PEM certificate`, faults);
  const privateKey = attempt(() => createPrivateKey(key), `${names.keyFile}: holds no PEM private key`, faults);
  attempt(() => new X509Certificate(ca), `${names.caFile}: holds no PEM certificate`, faults);
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
  if (!parsed || faults.length > 0) throw new ConfigError(faults.join("\n"));
  return { cert, key, ca, identity, validToMs: parsed.validToDate.getTime() };
}

function attempt<T>(read: () => T, fault: string, faults: string[]): T | undefined {
  try {
    return read();
  } catch {
    faults.push(fault);
    return undefined;
  }
}
