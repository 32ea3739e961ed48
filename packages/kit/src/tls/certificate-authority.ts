import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, element, hostName, integer, isTrue, octets, oid, sequence, set, time, uriName, utf8 } from "./der.ts";

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
interface CertificateOrder {
  /** The URI names; a certificate of Vidimus has exactly one. */
  readonly uris: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  /** Start of its validity; an hour ago by default, for clocks that differ. */
  readonly from?: Date;
  /** End of its validity; by default in a year. */
  readonly to?: Date;
}

/** Issues certificates of one authority. */
export interface CertificateAuthority {
  /** The certificate of the authority and its key, from which it can be opened again. */
  readonly pair: CertificatePair;
  issue(order: CertificateOrder): CertificatePair;
}

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const usage = {
  authority: bits(Buffer.from([0b0000_0110]), 1), // keyCertSign, cRLSign
  peer: bits(Buffer.from([0b1000_0000]), 7), // digitalSignature
};

/**
 * Makes a certificate authority for development and tests, with P-256 keys. A deployment has an
 * authority of its own, such as cert-manager or SPIRE.
 */
export function createAuthority(name = "Vidimus development CA"): CertificateAuthority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, publicKey: keys.publicKey, privateKey: keys.privateKey };
  const from = new Date(Date.now() - hourMs);
  const extensions = [
    extension("2.5.29.19", sequence(isTrue), true),
    extension("2.5.29.15", usage.authority, true),
    extension("2.5.29.14", octets(keyId(keys.publicKey))),
  ];
  const validity = { from, to: new Date(from.getTime() + 10 * yearMs) };
  const cert = certify(issuer, { name, publicKey: keys.publicKey, ...validity, extensions });
  return { pair: { cert, key: keyPem(keys.privateKey) }, issue: (order) => issue(issuer, order) };
}

interface Issuer {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function issue(issuer: Issuer, { uris, hosts = [], from, to }: CertificateOrder): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const names = [...uris.map(uriName), ...hosts.map(hostName)];
  const purposes = sequence(oid("1.3.6.1.5.5.7.3.1"), oid("1.3.6.1.5.5.7.3.2")); // serverAuth, clientAuth
  const extensions = [
    extension("2.5.29.19", sequence(), true),
    extension("2.5.29.15", usage.peer, true),
    extension("2.5.29.37", purposes),
    extension("2.5.29.14", octets(keyId(publicKey))),
    extension("2.5.29.35", sequence(element(0x80, keyId(issuer.publicKey)))),
    ...(names.length > 0 ? [extension("2.5.29.17", sequence(...names))] : []),
  ];
  const now = Date.now();
  const validity = { from: from ?? new Date(now - hourMs), to: to ?? new Date(now + yearMs) };
  const name = uris[0]?.split("/").at(-1) ?? "nameless";
  return { cert: certify(issuer, { name, publicKey, ...validity, extensions }), key: keyPem(privateKey) };
}

interface Subject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly from: Date;
  readonly to: Date;
  readonly extensions: readonly Buffer[];
}

/** Signs a certificate (RFC 5280, 4.1). Returns PEM. */
function certify(issuer: Issuer, { name, publicKey, from, to, extensions }: Subject): string {
  const version3 = element(0xa0, integer(Buffer.from([2])));
  // The first byte is from 1 to 127, so that the integer is positive and has no leading zero.
  const serial = randomBytes(16);
  serial[0] = 1 + ((serial[0] ?? 0) % 127);
  const signed = sequence(
    version3,
    integer(serial),
    ecdsaWithSha256,
    distinguished(issuer.name),
    sequence(time(from), time(to)),
    distinguished(name),
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(signed, ecdsaWithSha256, bits(sign("sha256", signed, issuer.privateKey)));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function distinguished(name: string): Buffer {
  return sequence(set(sequence(oid("2.5.4.3"), utf8(name))));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [isTrue] : []), octets(value));
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
}

function keyPem(privateKey: KeyObject): string {
  return privateKey.export({ type: "pkcs8", format: "pem" });
}
