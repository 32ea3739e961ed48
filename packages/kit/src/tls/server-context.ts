import { ServerCredentials } from "@grpc/grpc-js";
import { constants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import type { CertificateSource } from "./service-credentials.ts";
import type { TlsMaterial } from "./tls-material.ts";

/** A door asks for a client certificate and ends the handshake without a valid one. */
export const clientCertificate = { requestCert: true, rejectUnauthorized: true } as const;

/**
 * Returns the TLS options of a server: TLS 1.3 only. No session can be resumed, because that would
 * skip the check of the client's certificate: tickets hold no session, and Node keeps none for a
 * server without a listener for `resumeSession`.
 */
export function serverContext({ cert, key, ca }: Pick<TlsMaterial, "cert" | "key" | "ca">): SecureContextOptions {
  return { cert, key, ca, minVersion: "TLSv1.3", secureOptions: constants.SSL_OP_NO_TICKET };
}

/** Credentials of a grpc-js server whose new connections use the newest certificate. */
export class LiveServerCredentials extends ServerCredentials {
  constructor(source: CertificateSource) {
    super({ ...clientCertificate }, serverContext(source.value));
    source.onChange((material) => this.updateSecureContextOptions(serverContext(material)));
  }

  _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
