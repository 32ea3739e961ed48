import { isIP } from "node:net";
import type { Resolve } from "./resolve.ts";

/**
 * DNS gives no address for a receiver's name, or one that must not be dialled. The message does not
 * say which, and names no address, because a tenant could otherwise query names of the network of
 * this process.
 */
export class ResolveError extends Error {
  override readonly name = "ResolveError";

  constructor(host: string, options?: ErrorOptions) {
    super(`${host} has no address that may be dialled (DELIVERY_ALLOW_CIDRS)`, options);
  }
}

/**
 * The addresses of a host, all of which may be dialled.
 *
 * @throws ResolveError when no address of the host is found, or one must not be dialled
 */
export type CheckedAddresses = (host: string) => Promise<readonly string[]>;

/**
 * One special-purpose address among public ones refuses the whole name, because such a mixture is a
 * sign of an attack.
 */
export function createCheckedAddresses(resolve: Resolve, mayDial: (address: string) => boolean): CheckedAddresses {
  return async (host) => {
    const addresses =
      isIP(host) === 0
        ? await resolve(host).catch((error: unknown) => {
            throw new ResolveError(host, { cause: error });
          })
        : [host];
    if (!addresses.every(mayDial)) throw new ResolveError(host);
    return addresses;
  };
}
