import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

/**
 * Whether one of the authorities has issued the certificate that the peer of a connection has shown,
 * directly or through the intermediate ones. The chain is the one that the handshake has verified,
 * so only its authority may have changed since.
 */
export function isBelieved(
  socket: Pick<TLSSocket, "getPeerCertificate">,
  authorities: readonly X509Certificate[],
): boolean {
  const chain = chainOf(socket.getPeerCertificate(true));
  const roots = authorities.filter(isRoot);
  return chain.some((each) => roots.some((root) => each.checkIssued(root) && each.verify(root.publicKey)));
}

/** OpenSSL ends every chain at a root: it trusts no intermediate certificate for itself. */
function isRoot(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

/** A root names itself as its issuer. A peer without a certificate has an object without members. */
function chainOf(leaf: Partial<DetailedPeerCertificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let each: Partial<DetailedPeerCertificate> | undefined = leaf;
  while (each?.raw) {
    chain.push(new X509Certificate(each.raw));
    each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
  }
  return chain;
}
