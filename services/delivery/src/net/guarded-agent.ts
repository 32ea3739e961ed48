import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { Agent } from "undici";
import { bareHost } from "../domain/endpoint-url.ts";
import type { Resolve } from "./resolve.ts";

/** A receiver's address that must not be dialled. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/** A receiver's name for which DNS has no address. */
export class ResolveError extends Error {
  override readonly name = "ResolveError";
}

interface GuardedAgentOptions {
  resolve: Resolve;
  mayDial: (address: string) => boolean;
  connectMs: number;
}

/**
 * An HTTP agent that dials checked addresses only. The checked lookup's own result is dialled, so a
 * name cannot change between check and dial.
 *
 * Node calls no lookup for an IP literal, so pass the URL to `assertMayDial` before each request.
 */
export function createGuardedAgent({ resolve, mayDial, connectMs }: GuardedAgentOptions): Agent {
  return new Agent({
    connect: { timeout: connectMs, lookup: guardedLookup(resolve, mayDial) },
    allowH2: false,
    // Many servers close a connection that was idle for five seconds. A POST on a closing
    // connection costs a retry.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 30_000,
    pipelining: 1,
  });
}

/** @throws AddressRefusedError when the URL's host is an IP literal that must not be dialled */
export function assertMayDial(url: URL, mayDial: (address: string) => boolean): void {
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 && !mayDial(host)) throw new AddressRefusedError(`${host} must not be dialled`);
}

function guardedLookup(resolve: Resolve, mayDial: (address: string) => boolean): LookupFunction {
  const check = callbackify((hostname: string) => checkedAddresses(bareHost(hostname), resolve, mayDial));
  return (hostname, options, callback) => {
    check(hostname, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (options.all || !first) callback(error, error ? [] : addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * One special-purpose address among public ones refuses the whole name: a mixture is a sign of an
 * attack.
 */
async function checkedAddresses(host: string, resolve: Resolve, mayDial: (address: string) => boolean) {
  const addresses = await resolve(host).catch((error: unknown) => {
    throw new ResolveError(`${host} cannot be resolved`, { cause: error });
  });
  const refused = addresses.find((address) => !mayDial(address));
  if (refused !== undefined) throw new AddressRefusedError(`${host} resolves to ${refused}, which must not be dialled`);
  return addresses.map((address) => ({ address, family: isIP(address) }));
}
