import type { X509Certificate } from "node:crypto";

/**
 * The identity of a certificate: `spiffe://<trust domain>/<path>`. The path of a service is its
 * name, for example `spiffe://vidimus.example/documents`, or what `IDENTITY_PATH` makes of it.
 */
const identityPattern = /^spiffe:\/\/[a-z0-9._-]{1,255}(?:\/[A-Za-z0-9._-]+)+$/;
const identityCharactersMax = 2_048;

/** Whether a text has the form of an identity (SPIFFE ID, section 2). */
export function isIdentity(text: string): boolean {
  if (text.length > identityCharactersMax || !identityPattern.test(text)) return false;
  return !text.split("/").some((segment) => segment === "." || segment === "..");
}

export function trustDomainOf(identity: string): string {
  return identity.split("/")[2] ?? "";
}

const serviceMark = "{service}";

/** Path of the services' identities without the setting `IDENTITY_PATH`. */
const plainIdentityPath = `/${serviceMark}`;

/**
 * Whether a text can be the path of services' identities, such as `/ns/vidimus/sa/{service}`.
 * `{service}` must occur once, as a whole segment.
 */
export function isIdentityPath(text: string): boolean {
  const marked = text.split("/").filter((segment) => segment.includes("{"));
  return marked.length === 1 && marked[0] === serviceMark && isIdentity(serviceIdentity("a", "service", text));
}

export function serviceIdentity(trustDomain: string, service: string, path = plainIdentityPath): string {
  return `spiffe://${trustDomain}${path.replace(serviceMark, service)}`;
}

export type CertificateIdentity = { readonly identity: string } | { readonly fault: string };

/**
 * Reads the identity in a certificate, and does not verify its chain: TLS has done so for a peer's.
 * A certificate must have exactly one URI among its subject alternative names: with two it would be
 * unclear which of them the authority verified.
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
 * Node joins the names by ", " and quotes names with a comma or a quote as JSON, so that one name
 * cannot be read as two.
 */
const namePattern = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

function uriNames(names: string): string[] {
  return Array.from(names.matchAll(namePattern)).flatMap(([, kind, value = ""]) => (kind === "URI" ? [value] : []));
}
