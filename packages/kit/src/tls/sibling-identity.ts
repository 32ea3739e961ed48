import { serviceIdentity, trustDomainOf } from "./peer-identity.ts";
import type { TlsMaterial } from "./tls-material.ts";

/** The identity that a service of this process's trust domain must prove. */
export function siblingIdentity(
  { identity, identityPath }: Pick<TlsMaterial, "identity" | "identityPath">,
  service: string,
): string {
  return serviceIdentity(trustDomainOf(identity), service, identityPath);
}
