import { Socket } from "node:net";
import { callbackify } from "node:util";
import { buildConnector, errors, Pool } from "undici";
import { bareHost } from "../domain/endpoint-url.ts";
import type { CheckedAddresses } from "./checked-addresses.ts";

/** A forward proxy through which every webhook goes. */
export interface EgressProxy {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string;
  /** Value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/**
 * The proxy opened no connection. Tenants read the message, so it does not contain the proxy's
 * address.
 */
class ProxyError extends Error {
  override readonly name = "ProxyError";
}

interface ProxyConnectorOptions {
  readonly proxy: EgressProxy;
  readonly checkedAddresses: CheckedAddresses;
  /** Deadline for the lookup, the proxy, its connection to the receiver and TLS together. */
  readonly connectMs: number;
}

/**
 * Opens connections to receivers through a proxy with HTTP's CONNECT. The proxy is told a checked
 * address instead of the name, which it would resolve again, maybe to another address. TLS ends at
 * the receiver, whose certificate is verified against the name.
 */
export function createProxyConnector({
  proxy,
  checkedAddresses,
  connectMs,
}: ProxyConnectorOptions): buildConnector.connector {
  const toReceiver = buildConnector({ timeout: connectMs, allowH2: false });
  const toProxy = new Pool(proxy.origin, { connect: { timeout: connectMs }, allowH2: false });
  const open = async (options: buildConnector.Options): Promise<Socket> => {
    const deadline = AbortSignal.timeout(connectMs);
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    const addresses = await checkedAddresses(bareHost(options.hostname));
    const socket = await openTunnel({ toProxy, proxy, deadline }, addresses, port);
    return options.protocol === "https:" ? secure(toReceiver, { ...options, httpSocket: socket }, deadline) : socket;
  };
  const connect = callbackify(open);
  return (options, callback) => {
    connect(options, (error, socket) => (error ? callback(error, null) : callback(null, socket)));
  };
}

function secure(
  connect: buildConnector.connector,
  options: buildConnector.Options & { readonly httpSocket: Socket },
  deadline: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const late = () => {
    reject(new errors.ConnectTimeoutError("no TLS connection with the receiver in time"));
    options.httpSocket.destroy();
  };
  deadline.addEventListener("abort", late);
  connect(options, (...[error, socket]) => {
    deadline.removeEventListener("abort", late);
    if (socket) resolve(socket);
    else reject(error);
  });
  return promise;
}

interface Tunnelling {
  readonly toProxy: Pool;
  readonly proxy: EgressProxy;
  readonly deadline: AbortSignal;
}

/** Tries the addresses in turn, because the proxy may reach only some of them. */
async function openTunnel(deps: Tunnelling, addresses: readonly string[], port: number): Promise<Socket> {
  let refusal: ProxyError | undefined;
  for (const address of addresses) {
    const authority = address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
    const { statusCode, socket } = await askProxy(deps, authority);
    if (statusCode >= 200 && statusCode <= 299 && socket instanceof Socket) return socket;
    socket.on("error", () => {}).destroy();
    refusal ??= new ProxyError(`the egress proxy answered ${statusCode}`);
  }
  throw refusal ?? new ProxyError("the receiver has no address");
}

/**
 * @throws ConnectTimeoutError at the deadline, ProxyError when the connection to the proxy fails;
 * never SocketError, after which undici would try to connect forever
 */
async function askProxy({ toProxy, proxy, deadline }: Tunnelling, path: string) {
  const headers = {
    host: path,
    ...(proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization }),
  };
  try {
    return await toProxy.connect({ path, headers, signal: deadline });
  } catch (error) {
    if (deadline.aborted || error instanceof errors.ConnectTimeoutError) {
      throw new errors.ConnectTimeoutError("the egress proxy opened no connection in time");
    }
    const code: unknown = error instanceof Error ? Object.getOwnPropertyDescriptor(error, "code")?.value : undefined;
    throw new ProxyError(`the egress proxy cannot be used (${typeof code === "string" ? code : "no answer"})`, {
      cause: error,
    });
  }
}
