import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

interface CertificateOrder {
  /** The URI names; a certificate of Vidimus has exactly one. */
  readonly uris: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  /** Start of the validity; an hour ago by default, for clocks that differ. */
  readonly from?: Date;
  /** End of the validity; in a year by default. */
  readonly to?: Date;
}

export interface CertificateAuthority {
  /** The authority's certificate, which peers must trust, and its key. */
  readonly pair: CertificatePair;
  issue(order: CertificateOrder): CertificatePair;
}

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const commonName = "2.5.4.3";
const ecdsaWithSha256 = "1.2.840.10045.4.3.2";

/**
 * Makes a certificate authority for development and tests, with P-256 keys. A deployment has an
 * authority of its own, such as cert-manager or SPIRE.
 */
export function createAuthority(name = "Vidimus development CA"): CertificateAuthority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, publicKey: keys.publicKey, privateKey: keys.privateKey };
  const from = new Date(Date.now() - hourMs);
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(keys.publicKey))),
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
  const names = [...uris.map((uri) => new GeneralName({ uniformResourceIdentifier: uri })), ...hosts.map(hostName)];
  const keyIdentifier = new KeyIdentifier(keyId(issuer.publicKey));
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth, id_kp_clientAuth])),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(publicKey))),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier })),
    ...(names.length > 0 ? [extension(id_ce_subjectAltName, new SubjectAlternativeName(names))] : []),
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
  readonly extensions: Extension[];
}

/**
 * Signs a certificate (RFC 5280, 4.1). Returns PEM. `@peculiar/x509` could do this, but only
 * asynchronously, and with a dozen more packages.
 */
function certify(issuer: Issuer, { name, publicKey, from, to, extensions }: Subject): string {
  // The first byte is from 1 to 127, so that the integer is positive and has no leading zero.
  const serial = randomBytes(16);
  serial[0] = 1 + ((serial[0] ?? 0) % 127);
  const algorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: bytesOf(serial),
    signature: algorithm,
    issuer: distinguished(issuer.name),
    validity: new Validity({ notBefore: from, notAfter: to }),
    subject: distinguished(name),
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions(extensions),
  });
  const signed = Buffer.from(AsnConvert.serialize(tbsCertificate));
  const signatureValue = bytesOf(sign("sha256", signed, issuer.privateKey));
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue });
  const base64 = Buffer.from(AsnConvert.serialize(certificate)).toString("base64");
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function distinguished(name: string): Name {
  const value = new AttributeValue({ utf8String: name });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
}

function hostName(host: string): GeneralName {
  return new GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host });
}

function extension(extnID: string, value: unknown, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function keyId(publicKey: KeyObject): ArrayBuffer {
  return bytesOf(createHash("sha1").update(spkiOf(publicKey)).digest());
}

function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: "spki", format: "der" });
}

function keyPem(privateKey: KeyObject): string {
  return privateKey.export({ type: "pkcs8", format: "pem" });
}

/** A copy, because the library reads the whole underlying buffer. */
function bytesOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
