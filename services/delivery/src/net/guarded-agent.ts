import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { Agent } from "undici";
import { bareHost, portOf } from "../domain/endpoint-url.ts";
import { type CheckedAddresses, createCheckedAddresses } from "./checked-addresses.ts";
import { createProxyConnector, type EgressProxy } from "./proxy-connector.ts";
import type { Resolve } from "./resolve.ts";

/** The receiver's port, or the IP address in its URL, must not be dialled. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

interface GuardedAgentOptions {
  resolve: Resolve;
  mayDial: (address: string) => boolean;
  connectMs: number;
  /** Opens every connection, when present. */
  proxy?: EgressProxy | undefined;
}

/**
 * An HTTP agent that dials only checked addresses. It dials the result of the checked lookup, so a
 * name's address cannot change between check and dial. A proxy is told this address, too.
 *
 * Node calls no lookup for an IP literal, so pass each URL to `assertMayDial` before the first
 * request.
 */
export function createGuardedAgent({ resolve, mayDial, connectMs, proxy }: GuardedAgentOptions): Agent {
  const checkedAddresses = createCheckedAddresses(resolve, mayDial);
  return new Agent({
    connect: proxy
      ? createProxyConnector({ proxy, checkedAddresses, connectMs })
      : { timeout: connectMs, lookup: guardedLookup(checkedAddresses) },
    allowH2: false,
    // Many servers close a connection that was idle for five seconds, and a POST on a closing
    // connection costs a retry.
    keepAliveTimeout: 3_000,
    keepAliveMaxTimeout: 30_000,
    pipelining: 1,
  });
}

export interface DialRule {
  readonly mayDial: (address: string) => boolean;
  readonly mayUsePort: (port: number) => boolean;
}

/**
 * @throws AddressRefusedError when the URL's port, or its host as an IP literal, must not be
 * dialled
 */
export function assertMayDial(url: URL, { mayDial, mayUsePort }: DialRule): void {
  const port = portOf(url);
  if (!mayUsePort(port)) throw new AddressRefusedError(`port ${port} must not be used (DELIVERY_ALLOW_PORTS)`);
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 && !mayDial(host)) {
    throw new AddressRefusedError(`${host} must not be dialled (DELIVERY_ALLOW_CIDRS)`);
  }
}

function guardedLookup(checkedAddresses: CheckedAddresses): LookupFunction {
  const check = callbackify(async (hostname: string) => {
    const addresses = await checkedAddresses(bareHost(hostname));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });
  return (hostname, options, callback) => {
    check(hostname, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (options.all || !first) callback(error, error ? [] : addresses);
      else callback(null, first.address, first.family);
    });
  };
}
