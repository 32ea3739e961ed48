import type { CertificateAuthority, CertificatePair } from "../certificate-authority.ts";
import { serviceIdentity } from "../peer-identity.ts";
import type { CertificateSource } from "../service-credentials.ts";
import { parsePem, type TlsMaterial } from "../tls-files.ts";

/** The trust domain of tests. */
export const domain = "test.example";

/** A certificate in memory, which a test may replace. */
export class TestCertificate implements CertificateSource {
  readonly #listeners = new Set<(value: TlsMaterial) => void>();
  readonly #ca: string;
  #value: TlsMaterial;

  /** @param ca the authorities that the process believes, PEM */
  constructor(pair: CertificatePair, ca: string) {
    this.#ca = ca;
    this.#value = toMaterial(pair, ca);
  }

  get value(): TlsMaterial {
    return this.#value;
  }

  replace(pair: CertificatePair, ca = this.#ca): void {
    this.#value = toMaterial(pair, ca);
    for (const listener of this.#listeners) listener(this.#value);
  }

  onChange(listener: (value: TlsMaterial) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: (value: TlsMaterial) => void): void {
    this.#listeners.delete(listener);
  }
}

/** A valid certificate of a service, which believes the authority that issued it. */
export function certificateOf(authority: CertificateAuthority, service: string): TestCertificate {
  const pair = authority.issue({ uris: [serviceIdentity(domain, service)], hosts: ["localhost", "127.0.0.1"] });
  return new TestCertificate(pair, authority.pair.cert);
}

function toMaterial({ cert, key }: CertificatePair, ca: string): TlsMaterial {
  return parsePem([cert, key, ca].map((pem) => Buffer.from(pem)));
}
