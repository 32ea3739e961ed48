import type { X509Certificate } from "node:crypto";

/** A usable certificate: key and certificate belong together, and it has one identity. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
  /** The certificates in `ca`. */
  readonly authorities: readonly X509Certificate[];
  readonly identity: string;
  /** Path of the services' identities, unless it is `/{service}`. */
  readonly identityPath?: string | undefined;
  /** End of the certificate's validity, in ms since 1970. */
  readonly validToMs: number;
}
