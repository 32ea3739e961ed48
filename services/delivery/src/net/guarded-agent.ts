import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { Agent } from "undici";
import { bareHost, portOf } from "../domain/endpoint-url.ts";
import type { Resolve } from "./resolve.ts";

/** A receiver's port, or its address in the URL itself, that must not be dialled. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/**
 * A receiver's name that leads nowhere, or where nothing may be dialled. Which of the two, and to which
 * address, the tenant must not learn: it could ask for names of the network that this process is in.
 */
export class ResolveError extends Error {
  override readonly name = "ResolveError";

  constructor(host: string, options?: ErrorOptions) {
    super(`${host} has no address that may be dialled (DELIVERY_ALLOW_CIDRS)`, options);
  }
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
 * Node calls no lookup for an IP literal, so pass each URL to `assertMayDial` before the first request.
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

/** Which addresses and ports may be dialled. */
export interface DialRule {
  readonly mayDial: (address: string) => boolean;
  readonly mayUsePort: (port: number) => boolean;
}

/**
 * @throws AddressRefusedError when the URL's port, or its host as an IP literal, must not be dialled
 */
export function assertMayDial(url: URL, { mayDial, mayUsePort }: DialRule): void {
  const port = portOf(url);
  if (!mayUsePort(port)) throw new AddressRefusedError(`port ${port} must not be used (DELIVERY_ALLOW_PORTS)`);
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 && !mayDial(host)) {
    throw new AddressRefusedError(`${host} must not be dialled (DELIVERY_ALLOW_CIDRS)`);
  }
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
    throw new ResolveError(host, { cause: error });
  });
  if (!addresses.every(mayDial)) throw new ResolveError(host);
  return addresses.map((address) => ({ address, family: isIP(address) }));
}
