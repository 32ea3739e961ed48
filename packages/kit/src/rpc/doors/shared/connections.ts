import type { Http2SecureServer, Http2Server, ServerHttp2Session } from "node:http2";
import { isIPv4, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { withinDeadline } from "../../../deadline.ts";
import { ConfigError } from "../../../env.ts";
import { isBelieved } from "../../../tls/believed-chain.ts";
import type { CertificateSource } from "../../../tls/service-credentials.ts";
import { flowWindowBytes } from "../../wire/message-limit.ts";
import type { RpcServerOptions } from "./rpc-server.ts";

/** @param host a name or an address; an IPv6 address without brackets */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** The message for an address that must not be used without a certificate. */
export function needsCertificate(host: string): string {
  const files = "TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE";
  return `the doors bind loopback addresses only, not "${host}", unless ${files} are set`;
}

/** Without certificates any machine that reaches the port could call with any role. */
export function assertLoopback(host: string): void {
  if (!isLoopback(host)) throw new ConfigError(`HOST: ${needsCertificate(host)}`);
}

export interface Connections {
  /** Sends GOAWAY to all clients. Running calls continue. */
  closeSessions(): void;
  /** Destroys all sockets, including those without an HTTP/2 session. */
  destroy(): void;
}

/**
 * Time for running calls of a connection whose authority was removed. The removal is noticed within
 * a second, so such a connection ends within five seconds, even when the process is half a second
 * late.
 */
const revokedMs = 3_500;

/**
 * Sets the receive window of all HTTP/2 connections, closes each at the age `sessionAgeMs` ±10 %,
 * and tracks all connections for a stop. Ends those that do not answer pings, and those whose
 * certificate was issued by an authority that `certificate` no longer trusts.
 */
export function trackConnections(
  servers: Iterable<Http2Server | Http2SecureServer>,
  { sessionAgeMs, pingMs }: Required<Pick<RpcServerOptions, "sessionAgeMs" | "pingMs">>,
  certificate?: CertificateSource,
): Connections {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const onConnection = (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const onSession = (session: ServerHttp2Session) => {
    sessions.add(session);
    session.settings({ initialWindowSize: flowWindowBytes });
    session.setLocalWindowSize(flowWindowBytes);
    const age = setTimeout(() => session.close(), sessionAgeMs * (0.9 + Math.random() * 0.2)).unref();
    const pings = pingEvery(session, pingMs);
    session.once("close", () => {
      clearTimeout(age);
      clearInterval(pings);
      sessions.delete(session);
    });
  };
  for (const server of servers) server.on("connection", onConnection).on("session", onSession);
  if (certificate) endRevoked(servers, sessions, certificate);
  return {
    closeSessions: () => sessions.forEach((session) => session.close()),
    destroy: () => sockets.forEach((socket) => socket.destroy()),
  };
}

/**
 * Ends a connection whose ping has not been answered before the next one. A lost host and a stopped
 * process send no FIN, so their streams would keep what they hold for 15 minutes or for ever.
 *
 * Node cancels the pings of a connection once GOAWAY was sent on it. A cancelled ping counts as
 * answered here, so that the connection stays; `stalledMs` still bounds its streams. grpc-js's own
 * pings of a server would end such a connection at once.
 */
function pingEvery(session: ServerHttp2Session, pingMs: number): NodeJS.Timeout {
  let isAnswered = true;
  const ping = () => {
    // A destroyed session closes only with its socket, and `ping` would throw until then.
    if (session.destroyed) return;
    if (!isAnswered) return session.destroy();
    isAnswered = false;
    session.ping(() => (isAnswered = true));
  };
  return setInterval(ping, pingMs).unref();
}

function endRevoked(
  servers: Iterable<Http2Server | Http2SecureServer>,
  sessions: ReadonlySet<ServerHttp2Session>,
  certificate: CertificateSource,
): void {
  const sockets = new Set<TLSSocket>();
  for (const server of servers) {
    server.on("secureConnection", (socket: TLSSocket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
  }
  certificate.onChange(({ authorities }) => {
    const revoked = [...sockets].filter((socket) => !isBelieved(socket, authorities));
    const peers = new Set(revoked.map(peerOf));
    for (const session of sessions) if (session.socket && peers.has(peerOf(session.socket))) session.close();
    setTimeout(() => revoked.forEach((socket) => socket.destroy()), revokedMs).unref();
  });
}

/**
 * Identifies a connection of a server by its peer. The sockets cannot be compared, because a
 * session exposes its socket only as a proxy.
 */
const peerOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">) =>
  `${remoteAddress}:${remotePort}`;

/** Time for the refusals of running calls to reach their callers. */
const refusalMs = 500;

/**
 * Closes the connections of a server that stops. Running calls get `drainMs` to finish, then they
 * are refused, then their connections are destroyed.
 *
 * @param closed resolves when the server has closed
 * @param refuseRunning answers all running calls with UNAVAILABLE
 */
export async function drain(
  closed: Promise<unknown>,
  drainMs: number,
  connections: Connections,
  refuseRunning: () => void,
): Promise<void> {
  connections.closeSessions();
  if (!(await withinDeadline(closed, drainMs))) {
    refuseRunning();
    // A TCP connection without an HTTP/2 session would keep the server open.
    if (!(await withinDeadline(closed, refusalMs))) connections.destroy();
  }
  await closed;
}
