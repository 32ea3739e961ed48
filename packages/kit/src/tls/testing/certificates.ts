import type { CertificateAuthority, CertificatePair } from "@vidimus/devstack/certificates/certificate-authority";
import { serviceIdentity } from "../peer-identity.ts";
import type { CertificateSource } from "../service-credentials.ts";
import { parsePem } from "../tls-files.ts";
import type { TlsMaterial } from "../tls-material.ts";

/** The trust domain of tests. */
export const domain = "test.example";

export class TestCertificate implements CertificateSource {
  readonly #listeners = new Set<(value: TlsMaterial) => void>();
  readonly #ca: string;
  #value: TlsMaterial;

  readonly #identityPath: string | undefined;

  /** @param ca PEM of the authorities that the process trusts */
  constructor(pair: CertificatePair, ca: string, identityPath?: string) {
    this.#ca = ca;
    this.#identityPath = identityPath;
    this.#value = { ...toMaterial(pair, ca), identityPath };
  }

  get value(): TlsMaterial {
    return this.#value;
  }

  replace(pair: CertificatePair, ca = this.#ca): void {
    this.#value = { ...toMaterial(pair, ca), identityPath: this.#identityPath };
    for (const listener of this.#listeners) listener(this.#value);
  }

  onChange(listener: (value: TlsMaterial) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: (value: TlsMaterial) => void): void {
    this.#listeners.delete(listener);
  }
}

/** The service trusts `authority` only, which also issues its certificate. */
export function certificateOf(
  authority: CertificateAuthority,
  service: string,
  identityPath?: string,
): TestCertificate {
  const uris = [serviceIdentity(domain, service, identityPath)];
  const pair = authority.issue({ uris, hosts: ["localhost", "127.0.0.1"] });
  return new TestCertificate(pair, authority.pair.cert, identityPath);
}

function toMaterial({ cert, key }: CertificatePair, ca: string): TlsMaterial {
  return parsePem([cert, key, ca].map((pem) => Buffer.from(pem)));
}
