import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile, readSmallFile } from "../private-file.ts";
import { identityOf } from "./peer-identity.ts";
import { serverContext } from "./server-context.ts";

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
  /** The certificates in `ca`. */
  readonly authorities: readonly X509Certificate[];
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
 * Checks the contents of the three files, and that doors and clients can be opened with them.
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
    // What OpenSSL refuses beyond that would otherwise be found by a door that runs.
    attempt(() => createSecureContext(serverContext({ cert, key, ca })), `${names.certFile}: cannot be used`, faults);
  }
  if (!parsed || faults.length > 0) throw new ConfigError(faults.join("\n"));
  return { cert, key, ca, authorities, identity, validToMs: parsed.validToDate.getTime() };
}

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/**
 * Reads every certificate of a file. One that was read while it was written ends within a
 * certificate: OpenSSL refuses such a chain, and silently leaves such an authority out.
 */
function certificatesIn(pem: Buffer, name: string, faults: string[]): X509Certificate[] {
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
