import type { X509Certificate } from "node:crypto";

/**
 * The identity of a certificate: `spiffe://<trust domain>/<path>`. A service's path is its name, for
 * example `spiffe://vidimus.example/documents`.
 */
const identityPattern = /^spiffe:\/\/[a-z0-9._-]{1,255}(?:\/[A-Za-z0-9._-]+)+$/;
const identityCharactersMax = 2_048;

/** Whether a text has the form of an identity (SPIFFE ID, section 2). */
export function isIdentity(text: string): boolean {
  if (text.length > identityCharactersMax || !identityPattern.test(text)) return false;
  return !text.split("/").some((segment) => segment === "." || segment === "..");
}

/** The trust domain of an identity. */
export function trustDomainOf(identity: string): string {
  return identity.split("/")[2] ?? "";
}

/** The identity of a service of a trust domain. */
export function serviceIdentity(trustDomain: string, service: string): string {
  return `spiffe://${trustDomain}/${service}`;
}

/** Who a certificate names, or why it names nobody. */
export type CertificateIdentity = { readonly identity: string } | { readonly fault: string };

/**
 * Reads the identity of a certificate whose chain was verified. A certificate has exactly one URI
 * among its subject alternative names, and that is an identity; with two it would be unclear which
 * of them the authority verified.
 */
export function identityOf(certificate: Pick<X509Certificate, "subjectAltName">): CertificateIdentity {
  const uris = uriNames(certificate.subjectAltName ?? "");
  const [identity] = uris;
  if (identity === undefined) return { fault: "its certificate has no URI name" };
  if (uris.length > 1) return { fault: `its certificate has ${uris.length} URI names, not one` };
  if (!isIdentity(identity)) return { fault: "the URI name of its certificate is not spiffe://<trust domain>/<path>" };
  return { identity };
}

/**
 * Node joins the names by ", " and quotes as JSON those that contain a comma or a quote, so that no
 * name can pass for two.
 */
const namePattern = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

function uriNames(names: string): string[] {
  return Array.from(names.matchAll(namePattern)).flatMap(([, kind, value = ""]) => (kind === "URI" ? [value] : []));
}
