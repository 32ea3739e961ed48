import { type ChannelCredentials, experimental } from "@grpc/grpc-js";
import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { identityOf } from "./peer-identity.ts";
import { siblingIdentity } from "./sibling-identity.ts";
import type { TlsMaterial } from "./tls-material.ts";

export interface CertificateSource {
  readonly value: TlsMaterial;
  onChange(listener: (value: TlsMaterial) => void): void;
  removeListener(listener: (value: TlsMaterial) => void): void;
}

/** A change of `certificate` renews the connections of a channel that has the credentials. */
export type ServiceCredentials = ChannelCredentials & { readonly certificate: CertificateSource };

/**
 * Makes the credentials of a channel to a service of the same trust domain. The server must prove
 * that service's identity. The server's host name is not checked, because a name in DNS may lead to
 * any pod. New connections use the newest certificate of `source`.
 */
export function serviceCredentials(source: CertificateSource, service: string): ServiceCredentials {
  const expected = siblingIdentity(source.value, service);
  const provider = certificateProvider(source);
  const credentials = experimental.createCertificateProviderChannelCredentials(provider, provider, {
    checkServerIdentity: (_host, certificate) => checkServer(certificate, expected),
  });
  return Object.assign(credentials, { certificate: source });
}

function checkServer(certificate: PeerCertificate, expected: string): Error | undefined {
  const named = identityOf(new X509Certificate(certificate.raw));
  if ("fault" in named) return new Error(`the server is not ${expected}: ${named.fault}`);
  if (named.identity !== expected) return new Error(`the server is ${named.identity}, not ${expected}`);
  return undefined;
}

function certificateProvider(source: CertificateSource): experimental.CertificateProvider {
  return {
    ...listening(
      source,
      ({ ca }) => ({ caCertificate: ca }),
      "addCaCertificateListener",
      "removeCaCertificateListener",
    ),
    ...listening(
      source,
      ({ cert, key }) => ({ certificate: cert, privateKey: key }),
      "addIdentityCertificateListener",
      "removeIdentityCertificateListener",
    ),
  };
}

/** The methods by which a grpc-js provider adds and removes listeners for one kind of update. */
function listening<U, Add extends string, Remove extends string>(
  source: CertificateSource,
  toUpdate: (material: TlsMaterial) => U,
  add: Add,
  remove: Remove,
) {
  const listeners = new Map<(update: U | null) => void, (material: TlsMaterial) => void>();
  return {
    [add]: (listener: (update: U | null) => void) => {
      const onChange = (material: TlsMaterial) => listener(toUpdate(material));
      listeners.set(listener, onChange);
      source.onChange(onChange);
      onChange(source.value);
    },
    [remove]: (listener: (update: U | null) => void) => {
      const onChange = listeners.get(listener);
      if (onChange) source.removeListener(onChange);
      listeners.delete(listener);
    },
  } as Record<Add | Remove, (listener: (update: U | null) => void) => void>;
}
