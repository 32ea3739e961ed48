import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

/**
 * Whether one of the authorities has issued the certificate of a connection's peer, directly or
 * through intermediate certificates. The handshake has verified the chain, so only the trust in its
 * authority is checked again.
 */
export function isBelieved(
  socket: Pick<TLSSocket, "getPeerCertificate">,
  authorities: readonly X509Certificate[],
): boolean {
  const chain = chainOf(socket.getPeerCertificate(true));
  const roots = authorities.filter(isRoot);
  return chain.some((each) => roots.some((root) => each.checkIssued(root) && each.verify(root.publicKey)));
}

/** An authority that is no root does not count: OpenSSL trusts only chains that end at a root. */
function isRoot(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

/**
 * The chain of a peer ends at a root, which names itself as its issuer. For a peer without a
 * certificate Node returns an object without members.
 */
function chainOf(leaf: Partial<DetailedPeerCertificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let each: Partial<DetailedPeerCertificate> | undefined = leaf;
  while (each?.raw) {
    chain.push(new X509Certificate(each.raw));
    each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
  }
  return chain;
}
