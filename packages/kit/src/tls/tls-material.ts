import type { X509Certificate } from "node:crypto";

/** A usable certificate: it belongs to the key, and has exactly one identity. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
  /** The certificates in `ca`. */
  readonly authorities: readonly X509Certificate[];
  readonly identity: string;
  /**
   * Path in the SPIFFE ids of the services, with `{service}` for a service's name; undefined for
   * `/{service}`.
   */
  readonly identityPath?: string | undefined;
  /** End of the certificate's validity, in ms since 1970. */
  readonly validToMs: number;
}
